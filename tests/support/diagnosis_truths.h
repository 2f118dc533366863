#pragma once
// What holds of the diagnosis of any trace, however odd: its places lie in the trace, its findings share out the time account,
// its plan adds up. Each gives the first that does not hold, with the rule that it is about; empty where all does.
#include <set>
#include <string>

#include <fmt/format.h>

#include "core/analyze/account/time_account.h"
#include "core/base/saturating.h"
#include "core/diagnose/diagnose.h"
#include "core/trace/trace.h"

namespace gapscope::test {

inline std::string place_complaint(const Trace& trace, Span window, const Diagnosis& diagnosis) {
  const Span all = hull(trace.span, window);
  for (const RankedFinding& f : diagnosis.findings)
    for (const FindingSpan& place : f.finding.spans) {
      const std::string_view rule = f.finding.rule->id;
      if (place.lane.valid() && place.lane.index() >= trace.lanes.size()) return fmt::format("{}: no such lane", rule);
      if (place.span.end < place.span.begin || !all.contains(place.span)) return fmt::format("{}: outside of the trace", rule);
      if (!place.slice.valid()) continue;
      if (place.slice.index() >= trace.slice_count()) return fmt::format("{}: no such slice", rule);
      if (place.lane.valid() && place.lane != trace.lane_id(place.slice))
        return fmt::format("{}: not on its slice's lane", rule);
    }
  return {};
}

// Of the busiest device; null in a trace without an account.
inline std::string cost_complaint(const DeviceAccount* device, const Diagnosis& diagnosis) {
  Ns all = 0, of_work = 0, of_copies = 0, of_communication = 0;
  std::set<CauseSet> sets = {kAnyCause};
  for (const RankedFinding& f : diagnosis.findings) {
    const Rule& rule = *f.finding.rule;
    const bool is_problem = rule.rule_class == RuleClass::problem || rule.rule_class == RuleClass::problem_locator;
    if (f.finding.cost < 0 || f.finding.cost > f.finding.stake)
      return fmt::format("{}: costs more than the rule said", rule.id);
    if (f.merged && (f.led_by < 0 || f.finding.cost != 0)) return fmt::format("{}: part of none, or not for nothing", rule.id);
    if (f.led_by >= 0) {
      if (static_cast<std::size_t>(f.led_by) >= diagnosis.findings.size()) return fmt::format("{}: led by none", rule.id);
      const RankedFinding& leader = diagnosis.findings[static_cast<std::size_t>(f.led_by)];
      if (f.overlap <= 0) return fmt::format("{}: follows from what was at another time", rule.id);
      if (leader.led_by >= 0 || leader.finding.severity < f.finding.severity)
        return fmt::format("{}: led by one that is led, or less severe", rule.id);
    }
    if (device == nullptr) continue;
    if (is_problem && f.finding.cost == 0 && !f.merged && f.finding.severity != Severity::informational)
      return fmt::format("{}: severe for nothing", rule.id);
    const Claim claim = rule.claim.value_or(Claim{});
    if (claim.time == ClaimedTime::idle) sets.insert(claim.causes);
    add_saturating(all, f.finding.cost);
    add_saturating(of_work, claim.time == ClaimedTime::idle ? 0 : f.finding.cost);
    add_saturating(of_copies, claim.time == ClaimedTime::copies ? f.finding.cost : 0);
    add_saturating(of_communication, claim.time == ClaimedTime::communication ? f.finding.cost : 0);
  }
  if (device == nullptr) return {};
  // The parts of the window are disjoint, and so are the claims within each.
  const AccountTimes& times = device->times;
  if (all > device->window.length()) return "all findings together cost more than the window has";
  if (of_work > times.compute + times.exposed_communication + times.exposed_copies) return "more work is owned than was done";
  if (of_copies > times.exposed_copies) return "more copies are owned than there are";
  if (of_communication > times.exposed_communication) return "more communication is owned than there is";
  for (const CauseSet set : sets) {
    Ns held = 0, owned = 0;
    for (std::size_t c = 0; c < kIdleCauses; ++c) add_saturating(held, (set >> c & 1) != 0 ? times.idle[c] : 0);
    for (const RankedFinding& f : diagnosis.findings) {
      const Claim claim = f.finding.rule->claim.value_or(Claim{});
      add_saturating(owned, claim.time == ClaimedTime::idle && (claim.causes & ~set) == 0 ? f.finding.cost : 0);
    }
    if (owned > held) return fmt::format("more idle time of the causes {:x} is owned than there was", set);
  }
  return {};
}

inline std::string plan_complaint(const Diagnosis& diagnosis) {
  Ns left = diagnosis.plan.run;
  std::set<std::int32_t> planned;
  for (const Plan::Item& item : diagnosis.plan.items) {
    if (item.finding < 0 || static_cast<std::size_t>(item.finding) >= diagnosis.findings.size())
      return "what no finding says is planned";
    if (!planned.insert(item.finding).second) return "a finding is planned twice";
    if (item.saved < 0 || item.after < 0 || item.after != left - item.saved) return "the plan does not add up";
    left = item.after;
  }
  for (const RankedFinding& f : diagnosis.findings)
    if (f.gain && (f.gain->time < 0 || f.gain->time > diagnosis.plan.run))
      return fmt::format("{}: gives more than the run takes", f.finding.rule->id);
  return {};
}

}  // namespace gapscope::test
