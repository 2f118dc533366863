#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Between the first and the last GPU work: launches come early enough.
constexpr double kLeastUseWhileWorking = 0.80;
// Of the whole window: a short burst of work after a long preamble is not what the run is made of.
constexpr double kLeastUse = 0.70;
// The host has time to spare, or nearly so.
constexpr double kMostRatio = 1.2;
// From here on the run waits for transfers, not for kernels.
constexpr double kMostCopyShare = 0.40;

double copy_share(const Facts& facts) {
  Ns copies = 0;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && op.gpu_class == GpuClass::copy) add_saturating(copies, op.span.length());
  return facts.gpu_sum > 0 ? static_cast<double>(copies) / static_cast<double>(facts.gpu_sum) : 0;
}

std::vector<Finding> check_compute_bound(const Facts& facts) {
  if (facts.compiling() || !facts.cpu_to_gpu || !facts.gpu_util || !facts.gpu_window_util) return {};
  if (*facts.gpu_window_util < kLeastUseWhileWorking || *facts.gpu_util < kLeastUse || *facts.cpu_to_gpu > kMostRatio)
    return {};
  // Waiting for other GPUs looks busy.
  if (const AccountTimes* times = account_times(facts);
      times != nullptr && share_of(times->exposed_communication, times->window) > *facts.gpu_util - kLeastUse)
    return {};
  const double copies = copy_share(facts);
  if (copies >= kMostCopyShare) return {};
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary =
      fmt::format("From its first to its last operation the GPU was busy {} of the time, and {} of the whole window.",
                  format_share(*facts.gpu_window_util), format_share(*facts.gpu_util));
  finding.evidence =
      Evidence({{"gpu_window_util", *facts.gpu_window_util}, {"ratio", *facts.cpu_to_gpu}, {"memcpy_share", copies}});
  finding.spans.push_back({LaneId{}, facts.window, SliceId{}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule compute_bound = {
    .id = "compute_bound",
    .rule_class = RuleClass::good_sign,
    .severity = Severity::informational,
    .needs = kNeedsLaunches,
    .title = "The GPU limits the speed",
    .meaning = "The GPU is busy almost all the time and the host is ahead of it. Kernel time decides the step time.",
    .remedy = "The host does not need changes. Look at the kernels with the most time, at the data type and at the algorithm.",
    .check = check_compute_bound,
    .evidence_names = {{{"ratio", kHostAgainstGpu}}},
};

}  // namespace gapscope
