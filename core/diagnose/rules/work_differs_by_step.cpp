#include <algorithm>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Below that the host is ahead, and what it launches may differ.
constexpr double kMostUse = 0.7;

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
  if (compiled)
    finding.advice = advice_of(
        "Pad inputs to a few sizes, or mark the size that changes (torch._dynamo.mark_dynamic), so that one compilation fits "
        "all sizes. A CUDA graph of the step needs fixed sizes.");
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
