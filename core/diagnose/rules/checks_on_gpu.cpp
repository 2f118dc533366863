#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/truth_checks.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// As of values that are read one by one (item_in_loop).
constexpr std::size_t kLeastChecks = 8;

std::vector<Finding> check_checks_on_gpu(const Facts& facts) {
  std::vector<FindingSpan> places;
  Ns time = 0;
  for (const GpuBranch& branch : gpu_branches(facts)) {
    if (branch.check != TruthCheck::any) continue;
    places.push_back({facts.trace.lane_id(branch.read), branch.span, SliceId{}});
    add_saturating(time, branch.span.length());
  }
  if (places.size() < kLeastChecks) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format("{} for non-finite values waited for the GPU: {} on the host in total.",
                                sentence_start(counted(places.size(), "check")), format_duration(time));
  finding.evidence = Evidence({{"n", places.size()}, {"total_us", as_us(time)}});
  if (!facts.steps.empty())
    finding.evidence.add("per_step", static_cast<double>(places.size()) / static_cast<double>(facts.step_count()));
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule checks_on_gpu = {
    .id = "checks_on_gpu",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators,
    .title = "NaN checks synchronize with the GPU",
    .meaning =
        "if torch.isnan(x).any() starts two kernels and then waits for their result. The host launches nothing meanwhile. The "
        "step cannot become a CUDA graph.",
    .remedy =
        "Remove the checks, or combine them in one flag on the GPU (bad |= torch.isnan(x).any()) and read it once every many "
        "steps.",
    .check = check_checks_on_gpu,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = kHostCauses | cause_set({IdleCause::synchronizing, IdleCause::starting}),
                   .turn = 74,
                   .explains = {"implicit_sync", "item_in_loop"}},
    .code = "bad |= torch.isnan(x).any()",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
