#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/graph_breaks_in.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Below twice the GPU time the host keeps up well enough for launches to overlap with work.
constexpr double kLeastCompiledRatio = 2;
// With more GPU operations a call the region is no single small operator, and eager code would pay for each launch as well.
constexpr double kMostGpuOps = 8;

// Of so few the advice is not to compile them.
constexpr double kMostOfSingle = 2;

std::string remedy_of_pieces(bool are_broken) {
  return std::string(are_broken ? "First remove the graph breaks: fullgraph=True fails at the first one. " : "") +
         "Make the call cheaper: {cuda_graph|mode=\"reduce-overhead\", which replays its kernels as one CUDA graph}, "
         "{cpp_wrapper}, {larger_graphs}, {compile_rest}.";
}

struct Middle {
  Ns host = 0, gpu = 0;
  double gpu_ops = 0;
};

Middle middle_call(const Facts& facts, const std::vector<RegionCall>& calls) {
  std::vector<Ns> host, gpu, ops;
  for (const RegionCall& call : calls) {
    host.push_back(facts.trace.duration(call.region));
    gpu.push_back(call.gpu_time);
    ops.push_back(static_cast<Ns>(call.gpu_ops) * 2);  // doubled: the mean of two middle ones may be a half
  }
  return {median_of(std::move(host)), median_of(std::move(gpu)), static_cast<double>(median_of(std::move(ops))) / 2};
}

std::vector<Finding> check_compile_cpu_tax(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<RegionCall> calls = region_calls(facts);
  std::erase_if(calls, [](const RegionCall& call) { return call.gpu_ops == 0 || call.compiles; });
  if (calls.empty()) return {};
  const Middle middle = middle_call(facts, calls);
  const double ratio = middle.gpu > 0 ? static_cast<double>(middle.host) / static_cast<double>(middle.gpu) : 0;
  if (ratio < kLeastCompiledRatio || middle.gpu_ops > kMostGpuOps) return {};
  Finding finding;
  std::vector<SliceId> regions;
  for (const RegionCall& call : calls) {
    add_saturating(finding.cost, std::max<Ns>(facts.trace.duration(call.region) - call.gpu_time, 0));
    regions.push_back(call.region);
  }
  finding.severity = Severity::notable;
  finding.summary =
      fmt::format("A compiled call takes {} on the host (median) for {} of GPU work in {}, a ratio of {}.",
                  format_duration(middle.host), format_duration(middle.gpu),
                  middle.gpu_ops == 1 ? "1 operation" : fmt::format("{:g} operations", middle.gpu_ops), format_times(ratio));
  if (middle.gpu_ops > kMostOfSingle) finding.advice = advice_of(remedy_of_pieces(!graph_breaks_in(facts).empty()));
  finding.evidence = Evidence({{"region_cpu_us", as_us(middle.host)},
                               {"region_gpu_us", as_us(middle.gpu)},
                               {"gpu_ops", middle.gpu_ops},
                               {"ratio", ratio}});
  mark_slices(finding, facts.trace, regions);
  return {std::move(finding)};
}

}  // namespace

extern const Rule compile_cpu_tax = {
    .id = "compile_cpu_tax",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "A compiled call takes longer on the host than on the GPU",
    .meaning =
        "The compiled call spends several times its GPU time on the host, in guards, wrappers and launches. For one or two "
        "operators, eager code is usually cheaper. Record it to find out.",
    .remedy =
        "Do not compile single operators: {|compile a larger function around them}, {cuda_graph|replay it with "
        "mode=\"reduce-overhead\"}, {eager}.",
    .check = check_compile_cpu_tax,
    .claim = Claim{.time = ClaimedTime::idle, .causes = kHostCauses, .turn = 140},
    .evidence_names = {{{"ratio", kHostAgainstGpu}}},
    .gives = {Cure::idle},
};

}  // namespace gapscope
