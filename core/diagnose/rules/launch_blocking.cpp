#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Shorter kernels may end before their launch returns in any run.
constexpr Ns kLeastKernel = 20 * kNsPerUs;
// One or two may hide behind a first launch that loads code; three steps with one product each must do.
constexpr std::size_t kLeastKernels = 3;
constexpr double kLeastShare = 0.95;

std::vector<Finding> check(const Facts& facts) {
  std::vector<SliceId> blocked;
  std::size_t judged = 0;
  Ns call_time = 0;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || !op.is_kernel() || op.span.length() < kLeastKernel || (facts.own(op.launch) & kIsGraphLaunch)) continue;
    ++judged;
    if (op.launch_span.end < op.span.end) continue;
    blocked.push_back(op.launch);
    call_time += op.launch_span.length();
  }
  if (judged < kLeastKernels) return {};
  const double share = static_cast<double>(blocked.size()) / static_cast<double>(judged);
  if (share < kLeastShare) return {};
  Finding finding;
  finding.severity = Severity::informational;
  finding.cost = call_time;
  finding.summary = fmt::format("{} of {} of {} or more ended before {} launch returned; these launches took {}.",
                                shown_count(blocked.size()), counted(judged, "kernel"),
                                format_duration(kLeastKernel), blocked.size() == 1 ? "its" : "their", format_duration(call_time));
  finding.evidence = Evidence({{"share", share}, {"kernels", judged}, {"blocked", blocked.size()}, {"call_us", as_us(call_time)}});
  mark_slices(finding, facts.trace, blocked);
  return {std::move(finding)};
}

}  // namespace

extern const Rule launch_blocking = {
    "launch_blocking", RuleClass::observation, Severity::informational, kNeedsLaunches,
    "Launches wait for their kernels",
    "The recording was made with CUDA_LAUNCH_BLOCKING=1: CPU and GPU never overlap, so times are inflated but easy to attribute.",
    "Fine for reading and for finding a failing kernel; unset the variable before measuring.",
    check};

}  // namespace gapscope
