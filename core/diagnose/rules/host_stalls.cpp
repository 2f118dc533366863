#include <algorithm>

#include <fmt/format.h>

#include "core/analyze/operators/host_stalls.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// One may be a page fault.
constexpr std::size_t kLeastStalls = 3;

// "2.00 ms", "1.80 ms to 2.10 ms".
std::string stall_lengths(Ns least, Ns most) {
  const std::string a = format_duration(least), b = format_duration(most);
  return a == b ? a : a + " to " + b;
}

std::vector<Finding> check_host_stalls(const Facts& facts) {
  const HostStalls& stalls = facts.stalls();
  if (stalls.all.size() < kLeastStalls || facts.compiling()) return {};
  std::vector<SliceId> ops;
  for (const HostStall& s : stalls.all) ops.push_back(s.op);
  const auto less = [](const HostStall& a, const HostStall& b) { return a.own < b.own; };
  const auto [least, most] = std::minmax_element(stalls.all.begin(), stalls.all.end(), less);
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = stalls.time;
  finding.summary = fmt::format(
      "{} took {} of self time, far longer than usual (the longest is {}, the usual median {}){}. The host's thread seems not "
      "to have run.",
      counted(ops.size(), "operator call"), stall_lengths(least->own, most->own), shown_name(facts.trace.name(most->op)),
      format_duration(most->median), stalls.period > 0 ? fmt::format(", about {} apart", format_duration(stalls.period)) : "");
  finding.evidence = Evidence({{"n", ops.size()}, {"total_us", as_us(stalls.time)}, {"longest_us", as_us(most->own)}});
  if (stalls.period > 0) finding.evidence.add("period_us", as_us(stalls.period));
  mark_slices(finding, facts.trace, ops);
  return {std::move(finding)};
}

}  // namespace

extern const Rule host_stalls = {
    .id = "host_stalls",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators,
    .title = "Host thread descheduled",
    .meaning = "Another process or thread used the core, or a CPU quota ran out. Quota stops recur at a fixed interval.",
    .remedy = kStallRemedy,
    .check = check_host_stalls,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 35},
    .gives = {Cure::idle},
};

}  // namespace gapscope
