#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the time in which the GPU works: single readings show little.
constexpr double kLeastThrottledShare = 0.10;
// The driver is asked 50 times a second: fewer say nothing about a window.
constexpr std::uint64_t kFewestReadings = 5;

double held(const CounterMeans& means, CounterKind kind) { return means.knows(kind) ? means[kind] : 0; }

std::vector<Finding> check_clocks_throttled(const Facts& facts) {
  for (const DeviceCounters& device : facts.session.counters().devices()) {
    const CounterMeans busy = facts.session.counters().while_busy(device, facts.window);
    const double power = held(busy, CounterKind::held_by_power), heat = held(busy, CounterKind::held_by_heat);
    if (busy.readings < kFewestReadings || std::max(power, heat) < kLeastThrottledShare) continue;
    const bool by_heat = heat > power;
    Finding finding;
    finding.summary = fmt::format("In {} of the time that GPU {} was busy, the driver throttled its clocks {}.",
                                  format_share(std::max(power, heat)), device.device(), by_heat ? "for heat" : "for power");
    if (const double clock = busy.clock(); clock > 0)
      finding.summary += fmt::format(" The SMs ran at {:.0f} MHz on average.", clock);
    finding.evidence =
        Evidence({{"device", device.device()}, {"held_by_power", power}, {"held_by_heat", heat}, {"readings", busy.readings}});
    if (busy.clock() > 0) finding.evidence.add("sm_clock_mhz", busy.clock());
    if (busy.knows(CounterKind::watts)) finding.evidence.add("power_w", busy[CounterKind::watts]);
    finding.spans.push_back({LaneId{}, facts.window, SliceId{}});
    return {std::move(finding)};
  }
  return {};
}

}  // namespace

extern const Rule clocks_throttled = {
    .id = "clocks_throttled",
    .rule_class = RuleClass::observation,
    .severity = Severity::informational,
    .needs = kNeedsGpuWork | kNeedsCounters,
    .title = "The GPU's clocks are throttled",
    .meaning =
        "Large matrix products often reach the GPU's power limit. The GPU then runs below its highest clock. Do not compare "
        "times of such a run with those of a cooler GPU or of one with a higher power limit. Heat means that the cooling is "
        "insufficient.",
    .remedy =
        "For heat, check the machine's cooling. For power, only fewer or smaller operations help. Compare runs at equal "
        "clocks.",
    .check = check_clocks_throttled,
};

}  // namespace gapscope
