#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/first_calls.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Below that the host is ahead, and what it launches may differ.
constexpr double kMostUse = 0.7;

// Steps in which the program records a CUDA graph.
std::size_t steps_with_captures(const Facts& facts) {
  std::set<std::size_t> steps;
  for (const char* name : {"cudaStreamBeginCapture", "hipStreamBeginCapture"})
    for (const SliceId s : cpu_slices_called(facts, name, kIsCall))
      if (const auto step = facts.step_at(facts.trace.begin(s))) steps.insert(*step);
  return steps.size();
}

std::string first_call_words(const Facts& facts) {
  const std::vector<FirstLibraryCall> calls = first_library_calls(facts);
  if (!come_with_new_sizes(facts, calls)) return {};
  Ns time = 0;
  for (const FirstLibraryCall& call : calls) add_saturating(time, call.time);
  return fmt::format(" {} of a library came with new sizes and took {}.", sentence_start(counted(calls.size(), "first call")),
                     format_duration(time));
}

std::vector<Finding> check_work_differs_by_step(const Facts& facts) {
  if (!facts.practices().work_differs_by_step() || facts.compiling()) return {};
  const AccountTimes* times = account_times(facts);
  if (times == nullptr || !facts.gpu_util || *facts.gpu_util >= kMostUse) return {};
  const bool compiled = facts.practices().follows(Practice::compiled);
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = times->host();
  finding.summary =
      fmt::format("The kernels or their grids differ from step to step, so input sizes change. The GPU waits {} for the host.",
                  format_duration(times->host()));
  finding.summary += first_call_words(facts);
  const std::size_t captures = compiled ? steps_with_captures(facts) : 0;
  if (captures > 0) {
    finding.summary += fmt::format(" CUDA graphs were captured in {}.", counted(captures, "step"));
    finding.advice = advice_of(
        "Pad inputs to a few sizes. A CUDA graph fits one size: each new size costs a run without a graph and a capture. "
        "torch._inductor.config.triton.cudagraph_skip_dynamic_graphs = True uses no graphs where sizes change.");
    finding.code = "x = torch.nn.functional.pad(x, (0, -x.shape[-1] % 128))  # a few lengths";
  } else if (compiled) {
    finding.advice = advice_of(
        "Pad inputs to a few sizes, or mark the size that changes (torch._dynamo.mark_dynamic), so that one compilation fits "
        "all sizes. A CUDA graph of the step needs fixed sizes.");
  }
  finding.evidence = Evidence({{"host_us", as_us(times->host())}, {"gpu_util", *facts.gpu_util}});
  finding.spans.push_back({LaneId{}, facts.window, SliceId{}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule work_differs_by_step = {
    .id = "work_differs_by_step",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsSteps,
    .title = "Sizes change from step to step",
    .meaning =
        "Steps launch different kernels, or the same kernels on different grids. A CUDA graph replays one sequence of kernels "
        "of fixed sizes. Code compiled for fixed sizes is recompiled for new ones.",
    .remedy =
        "Pad inputs to a few sizes. One compilation then fits all steps, and a CUDA graph for each size is possible. Without "
        "padding, torch.compile(model, dynamic=True) compiles once for all sizes.",
    .check = check_work_differs_by_step,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = kHostCauses,
                   .inside = false,
                   .turn = 148,
                   .explains = {"many_small_kernels", "overhead_bound"}},
    .evidence_names = {{{"host_us", "waiting for the host"}}},
    .code = "torch._dynamo.mark_dynamic(x, 1)  # the size that changes",
    .gives = {Cure::idle},
};

}  // namespace gapscope
