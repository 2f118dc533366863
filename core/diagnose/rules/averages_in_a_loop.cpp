#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// One after another, with nothing that computes between: 8 tensors of mul_ and add_.
constexpr std::size_t kLeastInPlace = 16;
constexpr double kLeastInPlaceShare = 0.02;  // of the window

bool updates_in_place(std::string_view op) {
  constexpr std::array<std::string_view, 6> kOps = {"aten::mul_",  "aten::add_", "aten::sub_",
                                                    "aten::lerp_", "aten::div_", "aten::addcmul_"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

std::vector<Finding> check_averages_in_a_loop(const Facts& facts) {
  struct Run {
    Span span;
    std::size_t ops = 0;
    LaneId lane;
  };
  std::vector<Run> runs;
  Run run;
  const auto close = [&] {
    if (run.ops >= kLeastInPlace) runs.push_back(run);
    run = {};
  };
  std::vector<SliceId> ops = facts.slices_with(kIsAten);
  std::erase_if(ops, [&](SliceId s) { return (facts.above(s) & (kIsOp | kIsCompileFrame)) != 0; });
  std::sort(ops.begin(), ops.end(), [&](SliceId a, SliceId b) {
    return std::pair(facts.trace.lane_id(a), facts.trace.begin(a)) < std::pair(facts.trace.lane_id(b), facts.trace.begin(b));
  });
  for (const SliceId s : ops) {
    const SliceId range = facts.ancestor(s, kIsAnnotation);
    const bool of_optimizer = range && facts.trace.name(range).starts_with("Optimizer.");
    if (run.lane != facts.trace.lane_id(s) || of_optimizer) close();
    if (of_optimizer || (facts.below(s) & kIsLaunch) == 0) continue;  // views launch nothing
    if (!updates_in_place(facts.trace.name(s))) {
      close();
      continue;
    }
    const Span span = facts.trace.span_of(s);
    run = {run.ops == 0 ? span : Span{run.span.begin, std::max(run.span.end, span.end)}, run.ops + 1, facts.trace.lane_id(s)};
  }
  close();
  std::vector<FindingSpan> places;
  std::size_t count = 0;
  Ns time = 0;
  for (const Run& r : runs) {
    places.push_back({r.lane, r.span, SliceId{}});
    add_saturating(time, r.span.length());
    count += r.ops;
  }
  const double share = share_of(time, facts.window_length);
  if (places.empty() || share < kLeastInPlaceShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time;
  finding.summary = fmt::format(
      "{} outside the optimizer update one tensor each, in {}. They take {} on the host, {} of the window.",
      sentence_start(counted(count, "operator")), counted(places.size(), "loop"), format_duration(time), format_share(share));
  finding.evidence = Evidence({{"n", count}, {"spans", places.size()}, {"total_us", as_us(time)}, {"share", share}});
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule averages_in_a_loop = {
    .id = "averages_in_a_loop",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "A loop updates tensors one at a time",
    .meaning =
        "A weight average or a custom optimizer that loops over the parameters in Python launches one or two kernels per "
        "tensor.",
    .remedy =
        "Update all tensors in one call: torch._foreach_lerp_(averages, parameters, 1 - decay), or AveragedModel with "
        "multi_avg_fn=get_ema_multi_avg_fn(decay).",
    .check = check_averages_in_a_loop,
    .claim = Claim{.time = ClaimedTime::idle, .causes = kHostCauses | cause_set({IdleCause::starting}), .turn = 92},
    .code = "torch._foreach_lerp_(averages, list(model.parameters()), 1 - decay)",
    .gives = {Cure::gone},
};

}  // namespace gapscope
