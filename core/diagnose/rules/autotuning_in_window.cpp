#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A compilation also lifts constants to the GPU; timing candidates takes many kernels between many event records.
constexpr std::size_t kLeastKernels = 20, kLeastRecords = 20;

std::size_t event_records(const Facts& facts) {
  std::size_t count = 0;
  for (const char* prefix : {"cudaEventRecord", "hipEventRecord"})
    for (const SliceId s : cpu_slices_called(facts, prefix, kIsCall))
      if (facts.above(s) & kIsCompileFrame) ++count;
  return count;
}

std::vector<Finding> check_autotuning_in_window(const Facts& facts) {
  if (facts.compile_frames.empty()) return {};
  std::vector<SliceId> kernels;
  Finding finding;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || !op.is_kernel() || (facts.above(op.launch) & kIsCompileFrame) == 0) continue;
    kernels.push_back(op.slice);
    add_saturating(finding.cost, op.span.length());
  }
  if (kernels.size() < kLeastKernels) return {};
  const std::size_t records = event_records(facts);
  if (records < kLeastRecords) return {};
  finding.severity = Severity::costly;
  finding.summary =
      fmt::format("{} with {} of GPU time ran inside the compiler, timed by {}. These are benchmarks, not your program.",
                  counted(kernels.size(), "kernel"), format_duration(finding.cost), counted(records, "event record"));
  finding.evidence = Evidence({{"kernels_under_compile", kernels.size()}, {"event_records", records}});
  mark_slices(finding, facts.trace, kernels);
  return {std::move(finding)};
}

}  // namespace

extern const Rule autotuning_in_window = {
    .id = "autotuning_in_window",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches,
    .title = "The autotuner's benchmarks are in the recording",
    .meaning = "The compiler timed candidate kernels during the recording. Part of the GPU's busy time is these trial runs.",
    .remedy = "Call the compiled function a few times before the profiler starts.",
    .check = check_autotuning_in_window,
    .claim = Claim{.time = ClaimedTime::work, .turn = 20, .explains = {kEveryProblem}},
    .gives = {Cure::work},
};

}  // namespace gapscope
