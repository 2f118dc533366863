#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Persistent kernels use 128 of 132 SMs (0.97), and the last wave of a good grid is never quite full.
constexpr double kLeastFill = 0.90;
// Of kernel time with clearly fewer blocks than SMs: beyond it "whenever" is not true, whatever the average.
constexpr double kMostSmallerShare = 0.05;
constexpr double kSmallerGrid = 0.8;  // blocks per SM, as in small_grid

// With collectives: what takes few SMs on purpose leaves the others empty all the same, and nothing is praised then.
bool fills_always(const Facts& facts) {
  double covered = 0, time = 0, smaller = 0;
  for (const GpuOp& op : facts.ops) {
    const std::optional<double> blocks = op.linked() && op.is_kernel() ? blocks_per_sm(facts, op) : std::nullopt;
    if (!blocks) continue;
    covered += std::min(1.0, *blocks) * static_cast<double>(op.span.length());
    time += static_cast<double>(op.span.length());
    if (*blocks < kSmallerGrid && op.gpu_class == GpuClass::compute) smaller += static_cast<double>(op.span.length());
  }
  return time > 0 && covered / time >= kLeastFill - kFillRounding && smaller <= kMostSmallerShare * time;
}

std::vector<Finding> check_grid_covers_sms(const Facts& facts) {
  const std::optional<SmFill> fill = sm_fill(facts);
  if (!fill || fill->fill < kLeastFill - kFillRounding || !fills_always(facts)) return {};
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format("While kernels computed ({}, without {}), {} of the SMs had blocks on average.",
                                format_duration(fill->kernel_time), left_out_of_fill(facts), format_share(fill->fill));
  finding.evidence = Evidence({{"fill", fill->fill}, {"tb_sm_efficiency", fill->over_window}});
  finding.spans.push_back({LaneId{}, facts.window, SliceId{}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule grid_covers_sms = {
    .id = "grid_covers_sms",
    .rule_class = RuleClass::good_sign,
    .severity = Severity::informational,
    .needs = kNeedsLaunches | kNeedsBlocksPerSm,
    .title = "Kernels fill the GPU",
    .meaning =
        "Nearly all SMs have work while a kernel computes: grids are large enough for this GPU. This does not show how well "
        "each SM is used. Collectives do not count, as they need few SMs.",
    .remedy = "Nothing to do here. Look next at idle time, data types and the kernels themselves.",
    .check = check_grid_covers_sms,
};

}  // namespace gapscope
