#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"
#include "core/diagnose/trust.h"

namespace gapscope {
namespace {

std::vector<Finding> check_launch_blocking(const Facts& facts) {
  const BlockedLaunches blocked = blocked_launches(facts.trace, facts.ops);
  if (!blocked.are_all()) return {};
  Ns call_time = 0;
  for (const SliceId launch : blocked.launches) add_saturating(call_time, facts.trace.duration(launch));
  Finding finding;
  finding.severity = Severity::informational;
  finding.cost = call_time;
  const std::size_t count = blocked.launches.size();
  finding.summary = fmt::format(
      "{} ended before {} launch returned; these launches took {}.",
      sentence_start(counted_of(count, blocked.kernels, "kernel of " + format_duration(kLeastTellingKernel) + " or more")),
      count == 1 ? "its" : "their", format_duration(call_time));
  finding.evidence = Evidence({{"share", static_cast<double>(count) / static_cast<double>(blocked.kernels)},
                               {"kernels", blocked.kernels},
                               {"blocked", count},
                               {"call_us", as_us(call_time)}});
  mark_slices(finding, facts.trace, blocked.launches);
  return {std::move(finding)};
}

}  // namespace

extern const Rule launch_blocking = {
    .id = "launch_blocking",
    .rule_class = RuleClass::observation,
    .severity = Severity::informational,
    .needs = kNeedsLaunches,
    .title = "Launches wait for their kernels",
    .meaning =
        "Launches return only when their kernels have ended, as with CUDA_LAUNCH_BLOCKING=1: CPU and GPU do not overlap, so "
        "times are inflated but easy to attribute.",
    .remedy = "Fine for reading and for finding a failing kernel; unset the variable before measuring.",
    .check = check_launch_blocking,
};

}  // namespace gapscope
