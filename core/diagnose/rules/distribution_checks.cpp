#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/truth_checks.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastValidations = 8;

// The innermost function of torch.distributions around it, which is there for the check.
SliceId frame_of_check(const Facts& facts, SliceId read) {
  for (SliceId at = facts.ancestor(read, kIsPython); at; at = facts.ancestor(at, kIsPython))
    if (facts.trace.name(at).find("torch/distributions/") != std::string_view::npos) return at;
  return {};
}

std::vector<Finding> check_distribution_checks(const Facts& facts) {
  const bool has_frames = !facts.slices_with(kIsPython).empty();
  std::vector<FindingSpan> places;
  std::vector<Span> spans;
  for (const GpuBranch& branch : gpu_branches(facts)) {
    // Without frames the operator that torch.distributions has for this alone shows.
    const SliceId frame = branch.check == TruthCheck::all && has_frames ? frame_of_check(facts, branch.read) : SliceId{};
    if (branch.check != TruthCheck::all || (has_frames && !frame)) continue;
    const Span span = frame ? facts.trace.span_of(frame) : branch.span;
    places.push_back({facts.trace.lane_id(branch.read), span, SliceId{}});
    spans.push_back(span);
  }
  if (places.size() < kLeastValidations) return {};
  const Ns time = length(span_set(std::move(spans)));
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format("{} of value ranges waited for the GPU, {} torch.distributions{}: {} on the host in total.",
                                sentence_start(counted(places.size(), "check")), has_frames ? "inside" : "as",
                                has_frames ? "" : " makes them", format_duration(time));
  finding.evidence = Evidence({{"n", places.size()}, {"total_us", as_us(time)}});
  if (!facts.steps.empty())
    finding.evidence.add("per_step", static_cast<double>(places.size()) / static_cast<double>(facts.step_count()));
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule distribution_checks = {
    .id = "distribution_checks",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators,
    .title = "Distributions check their arguments on the GPU",
    .meaning =
        "torch.distributions checks each time whether parameters and samples are in range. Each check starts kernels and waits "
        "for their result.",
    .remedy =
        "Turn the checks off once the program works: torch.distributions.Distribution.set_default_validate_args(False), or "
        "validate_args=False for one distribution.",
    .check = check_distribution_checks,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = kHostCauses | cause_set({IdleCause::synchronizing, IdleCause::starting}),
                   .turn = 73,
                   .explains = {"implicit_sync", "item_in_loop"}},
    .code = "torch.distributions.Distribution.set_default_validate_args(False)",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
