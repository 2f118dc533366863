#include "core/analyze/account/time_account.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/host_wait.h"
#include "core/diagnose/rule.h"
#include "core/diagnose/verdict.h"

namespace gapscope {
namespace {

// The verdict's own limits, where overhead_bound, which says the same, has others.
std::vector<Finding> check_host_gaps(const Facts& facts) {
  const AccountTimes* times = account_times(facts);
  if (times == nullptr || is_overhead_bound(facts)) return {};
  const TimeAccount& account = facts.session.account();
  if (verdict_of(facts.trace, account, trust_of(facts.trace, facts.ops, account)).bound != Bound::host) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = times->host();
  finding.summary = busy_sentence(facts) + host_wait_sentence(facts, *times);
  finding.advice = host_wait_remedy(facts, *times);
  finding.evidence = Evidence({{"gpu_util", *facts.gpu_util},
                               {"host_us", as_us(times->host())},
                               {"share_of_window", share_of(times->host(), times->window)}});
  std::vector<FindingSpan> gaps;
  for (const DeviceGap& gap : account.busiest()->gaps)
    if (is_host_part(gap.main)) gaps.push_back({LaneId{}, gap.span, SliceId{}});
  mark_gaps(finding, std::move(gaps));
  return {std::move(finding)};
}

}  // namespace

extern const Rule host_gaps = {
    .id = "host_gaps",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches,
    .title = "The host leaves gaps between the kernels",
    .meaning =
        "For much of its idle time the GPU waits for the host to launch the next work. At times the host is ahead, at other "
        "times it is late.",
    .remedy = "Look at the marked gaps, the longest first. `gapscope why` shows what the host was doing.",
    .check = check_host_gaps,
    .claim = Claim{.time = ClaimedTime::idle, .causes = kHostCauses, .inside = false, .turn = 165},
    .evidence_names = {{{"host_us", "waiting for the host"}}},
    .code = kCompileModel,
    .gives = {Cure::graph},
};

}  // namespace gapscope
