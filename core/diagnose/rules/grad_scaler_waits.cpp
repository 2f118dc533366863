#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/fused_optimizer.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastScaledSteps = 2;
constexpr double kLeastScalerShare = 0.01;  // of the window
// The first compute capability with bfloat16 on tensor cores.
constexpr std::int64_t kHasBfloat16 = 8;

// What torch.amp.GradScaler does on one thread, in time order.
struct ScalerOps {
  std::vector<SliceId> inverses, unscales, reads, updates;
};

std::unordered_map<std::uint32_t, ScalerOps> scaler_ops(const Facts& facts) {
  std::unordered_map<std::uint32_t, ScalerOps> out;  // by lane
  const auto of = [&](SliceId s) -> ScalerOps& { return out[facts.trace.lane_id(s).value]; };
  for (const SliceId s : cpu_slices_called(facts, "aten::_amp_foreach_non_finite_check_and_unscale_", kIsOp))
    of(s).unscales.push_back(s);
  if (out.empty()) return out;
  for (const SliceId s : cpu_slices_called(facts, "aten::reciprocal", kIsOp)) of(s).inverses.push_back(s);
  for (const SliceId s : cpu_slices_called(facts, "aten::item", kIsOp))
    if ((facts.below(s) & kIsSync) != 0) of(s).reads.push_back(s);
  for (const SliceId s : cpu_slices_called(facts, "aten::_amp_update_scale_", kIsOp)) of(s).updates.push_back(s);
  return out;
}

// The last of them that begins before; none.
SliceId last_before(const Facts& facts, const std::vector<SliceId>& ops, Ns t) {
  const auto at = std::partition_point(ops.begin(), ops.end(), [&](SliceId s) { return facts.trace.begin(s) < t; });
  return at == ops.begin() ? SliceId{} : *std::prev(at);
}

// It begins with the scale's inverse, and goes through the gradients in Python.
SliceId begin_of_unscale(const Facts& facts, const ScalerOps& ops, SliceId unscale) {
  constexpr Ns kLongestUnscale = 20 * kNsPerMs;
  const SliceId inverse = last_before(facts, ops.inverses, facts.trace.begin(unscale));
  return inverse && facts.trace.begin(unscale) - facts.trace.begin(inverse) <= kLongestUnscale ? inverse : unscale;
}

bool has_bfloat16(const Facts& facts) {
  for (const DeviceProperties& device : facts.trace.header.devices)
    if (device.compute_major > 0 && device.compute_major < kHasBfloat16) return false;
  return true;
}

std::vector<Finding> check_grad_scaler_waits(const Facts& facts) {
  std::vector<FindingSpan> places;
  std::size_t steps = 0;
  Ns time = 0;
  const auto add = [&](SliceId first, SliceId last) {
    const Span span{facts.trace.begin(first), facts.trace.end(last)};
    places.push_back({facts.trace.lane_id(last), span, SliceId{}});
    add_saturating(time, span.length());
  };
  for (const auto& [lane, ops] : scaler_ops(facts)) {
    Ns before = std::numeric_limits<Ns>::min();
    // scaler.step() reads whether a gradient is not finite, last before scaler.update() changes the scale.
    for (const SliceId update : ops.updates) {
      const SliceId read = last_before(facts, ops.reads, facts.trace.begin(update));
      const SliceId unscale = read ? last_before(facts, ops.unscales, facts.trace.begin(read)) : SliceId{};
      if (!unscale || facts.trace.begin(unscale) <= before) continue;
      before = facts.trace.begin(update);
      ++steps;
      add(begin_of_unscale(facts, ops, unscale), unscale), add(read, read), add(update, update);
    }
  }
  const double share = share_of(time, facts.window_length);
  if (steps < kLeastScaledSteps || share < kLeastScalerShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time;
  finding.summary = fmt::format(
      "GradScaler unscaled the gradients and waited for the GPU {} to check that they are finite: {} on the host in total.",
      often(steps), format_duration(time));
  finding.evidence = Evidence({{"n", steps}, {"total_us", as_us(time)}, {"share", share}});
  if (!has_bfloat16(facts)) {
    finding.advice = advice_of(
        "Let the optimizer check this on the GPU: pass fused=True{fused_optimizer!}, and scaler.step() does not wait.");
    finding.code = fitted(facts.practices(), fused_optimizer_line(facts));
  }
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule grad_scaler_waits = {
    .id = "grad_scaler_waits",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "GradScaler waits for the GPU in each step",
    .meaning =
        "float16 needs a scaled loss, and steps with non-finite gradients are skipped. scaler.step() therefore reads a value "
        "from "
        "the GPU in each step. The host launches nothing until it has the value.",
    .remedy =
        "Use bfloat16, which needs no GradScaler. With float16 pass fused=True to the optimizer{fused_optimizer!}, which reads "
        "that value on the GPU.",
    .check = check_grad_scaler_waits,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = kHostCauses | cause_set({IdleCause::synchronizing, IdleCause::starting}),
                   .turn = 77,
                   .explains = {"implicit_sync", "long_sync_wait"}},
    .code = "with torch.autocast(\"cuda\", torch.bfloat16):",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
