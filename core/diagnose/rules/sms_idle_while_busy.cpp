#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the window: below it, idle time is the larger matter.
constexpr double kLeastBusy = 0.5;
// Percent, while anything runs: less than half of the SMs have a warp, and DRAM is not what they wait for.
constexpr double kMostActive = 50, kMostDram = 20;

std::vector<Finding> check_sms_idle_while_busy(const Facts& facts) {
  const CounterFacts& counters = facts.session.counters();
  for (const DeviceCounters& device : counters.devices()) {
    const CounterMeans busy = counters.while_busy(device, facts.window);
    const Ns time = length(counters.busy(device, facts.window));
    if (!busy.measured() || share_of(time, facts.window_length) < kLeastBusy) continue;
    if (!(busy[CounterKind::sm_active] < kMostActive) || !(busy[CounterKind::dram_share] < kMostDram)) continue;
    std::vector<SliceId> slices;
    for (const GpuOp& op : facts.ops)
      if (op.device == device.device() && op.is_kernel()) slices.push_back(op.slice);
    Finding finding;
    finding.severity = Severity::notable;
    finding.cost = static_cast<Ns>((1 - busy[CounterKind::sm_active] / 100) * static_cast<double>(time));
    finding.summary = fmt::format(
        "GPU {} is busy for {} of the window, but SMs are active in only {:.0f} % of the cycles of that time. DRAM is at "
        "{:.1f} % of its peak.",
        device.device(), format_share(share_of(time, facts.window_length)), busy[CounterKind::sm_active],
        busy[CounterKind::dram_share]);
    finding.evidence = Evidence({{"device", device.device()},
                                 {"sm_active", busy[CounterKind::sm_active] / 100},
                                 {"dram_of_peak", busy[CounterKind::dram_share] / 100},
                                 {"busy_us", as_us(time)},
                                 {"samples", static_cast<std::int64_t>(busy.samples)}});
    mark_slices(finding, facts.trace, slices);
    return {std::move(finding)};
  }
  return {};
}

}  // namespace

extern const Rule sms_idle_while_busy = {
    .id = "sms_idle_while_busy",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsGpuWork | kNeedsCounters,
    .title = "A busy GPU whose SMs are mostly idle",
    .meaning =
        "A kernel runs nearly all the time, so the GPU is busy, but only part of the GPU works. Reasons: small grids, one long "
        "block, kernels that wait for each other.",
    .remedy =
        "Put more work into each launch, run independent kernels on several streams, and check the grids of the longest "
        "kernels.",
    .check = check_sms_idle_while_busy,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 320},
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
