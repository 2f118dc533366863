#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// What is done every so many steps shows as steps that are several times as long: evaluation, checkpoints, logging.
constexpr double kLeastTimes = 5;
constexpr std::size_t kLeastSteps = 6;  // without the first
constexpr Ns kLeastExtra = kNsPerMs;    // of a slow step
constexpr double kMostSlow = 0.34;      // more of them are no exception

constexpr double kLeastOfExtra = 0.3;  // of a slow step's extra time: what takes that is named
constexpr double kNearlyThat = 0.8;    // what is inside it and takes so much of that is named instead

struct Longer {
  SliceId slice;
  Ns more = 0;  // than one of its name takes in a usual step
};

// What a slow step has and a usual one has not, or has shorter: the innermost of what explains most.
Longer what_takes_longer(const Facts& facts, Span slow, Ns extra, const std::vector<Span>& usual) {
  std::vector<Longer> found;
  for (const SliceId s : facts.slices_with(kIsOp | kIsCall | kIsPython)) {
    const bool is_long = static_cast<double>(facts.trace.duration(s)) >= kLeastOfExtra * static_cast<double>(extra);
    if (!is_long || !slow.contains(facts.trace.begin(s)) || facts.trace.end(s) > slow.end || (facts.own(s) & kIsStep) != 0)
      continue;
    Ns most = 0;
    for (const SliceId other : facts.names.slices_named(facts.trace.name_id(s)))
      if (std::any_of(usual.begin(), usual.end(), [&](Span span) { return span.contains(facts.trace.begin(other)); }))
        most = std::max(most, facts.trace.duration(other));
    const Ns more = facts.trace.duration(s) - most;
    if (static_cast<double>(more) >= kLeastOfExtra * static_cast<double>(extra)) found.push_back({s, more});
  }
  Longer most;
  for (const Longer& one : found)
    if (one.more > most.more) most = one;
  Longer out = most;
  for (const Longer& one : found)
    if (static_cast<double>(one.more) >= kNearlyThat * static_cast<double>(most.more) && one.more < out.more) out = one;
  return out;
}

std::vector<Finding> check_steps_of_two_kinds(const Facts& facts) {
  if (facts.steps.size() < kLeastSteps + 1) return {};
  const std::vector<SliceId> steps(facts.steps.begin() + 1, facts.steps.end());  // first_step_slow speaks of the first
  std::vector<Ns> lengths;
  for (const SliceId s : steps) lengths.push_back(facts.trace.duration(s));
  const Ns median = median_of(lengths);
  std::vector<SliceId> slow;
  std::vector<Span> usual;
  Ns slow_time = 0, all = 0, extra = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    add_saturating(all, lengths[i]);
    const bool is_slow =
        static_cast<double>(lengths[i]) >= kLeastTimes * static_cast<double>(median) && lengths[i] - median >= kLeastExtra;
    if (!is_slow) {
      usual.push_back(facts.trace.span_of(steps[i]));
      continue;
    }
    slow.push_back(steps[i]);
    add_saturating(slow_time, lengths[i]);
    add_saturating(extra, lengths[i] - median);
  }
  if (slow.empty() || static_cast<double>(slow.size()) > kMostSlow * static_cast<double>(steps.size())) return {};
  const auto longer = [&](SliceId a, SliceId b) { return facts.trace.duration(a) < facts.trace.duration(b); };
  const SliceId longest = *std::max_element(slow.begin(), slow.end(), longer);
  const Longer what = what_takes_longer(facts, facts.trace.span_of(longest), facts.trace.duration(longest) - median, usual);
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = extra;
  finding.summary = fmt::format(
      "{} of {} {} at least {} times as long as the others: {} of their total {}, where the median of all is {}. The longest, "
      "{}, takes {}{}.",
      format_count(static_cast<std::int64_t>(slow.size())), format_count(static_cast<std::int64_t>(steps.size())),
      slow.size() == 1 ? "steps is" : "steps are", static_cast<int>(kLeastTimes), format_duration(slow_time),
      format_duration(all), format_duration(median), shown_name(facts.trace.name(longest)),
      format_duration(facts.trace.duration(longest)),
      what.slice ? fmt::format(", {} of it in {}", format_duration(facts.trace.duration(what.slice)),
                               shown_name(facts.trace.name(what.slice)))
                 : std::string());
  finding.evidence = Evidence({{"n", slow.size()},
                               {"of", steps.size()},
                               {"median_us", as_us(median)},
                               {"longest_us", as_us(facts.trace.duration(longest))},
                               {"share", share_of(slow_time, all)}});
  mark_slices(finding, facts.trace, slow);
  return {std::move(finding)};
}

}  // namespace

extern const Rule steps_of_two_kinds = {
    .id = "steps_of_two_kinds",
    .rule_class = RuleClass::observation,
    .severity = Severity::notable,
    .needs = kNeedsSteps,
    .title = "A few steps take much longer",
    .meaning =
        "In some steps the program does additional work: an evaluation, a checkpoint, a log, or the start of an epoch. The "
        "mean of all steps includes that time, the median step does not.",
    .remedy =
        "Do this less often, or in another thread or process. To see what it is, record stacks, and enough steps to include "
        "one of these.",
    .check = check_steps_of_two_kinds,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 365},
};

}  // namespace gapscope
