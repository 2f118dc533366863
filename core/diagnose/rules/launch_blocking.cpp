#include <algorithm>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"
#include "core/diagnose/trust.h"
#include "core/replay/replay.h"

namespace gapscope {
namespace {

// The run were launches to return when their kernels begin: what a launch takes by itself is not in such a file, and hardly
// more than that.
struct Unblocked {
  Ns before = 0, after = 0;  // of a step, or of the run where it has none
  bool of_step = false;
};
Unblocked unblocked(const Facts& facts) {
  const auto model = facts.session.model();
  std::vector<Span> held;
  for (const ReplayModel::Operation& op : model->ops()) {
    if (op.call == ReplayModel::kNone || op.gpu_class == GpuClass::copy) continue;
    const Span call = model->calls()[op.call].span;
    if (call.end >= op.span.end && op.span.begin > call.begin) held.push_back({op.span.begin, call.end});
  }
  Change change;
  change.removed = span_set(std::move(held));
  const ReplayResult result = replay(*model, change);
  const StepShare step = model->step_share();
  return {step.length(result.before), step.length(result.after), step.steps > 0};
}

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
      "{} ended before {} launch returned. These launches took {}.",
      sentence_start(counted_of(count, blocked.kernels, "kernel of " + format_duration(kLeastTellingKernel) + " or more")),
      count == 1 ? "its" : "their", format_duration(call_time));
  const Unblocked free = unblocked(facts);
  if (free.after < free.before)
    finding.summary +=
        fmt::format(" If they returned when their kernels begin, {} would take about {} instead of {} (replay).",
                    free.of_step ? "a step" : "the run", format_duration(free.after), format_duration(free.before));
  finding.evidence = Evidence({{"share", static_cast<double>(count) / static_cast<double>(blocked.kernels)},
                               {"kernels", blocked.kernels},
                               {"blocked", count},
                               {"call_us", as_us(call_time)},
                               {"run_us", as_us(free.before)},
                               {"run_unblocked_us", as_us(free.after)}});
  mark_slices(finding, facts.trace, blocked.launches);
  return {std::move(finding)};
}

}  // namespace

extern const Rule launch_blocking = {
    .id = "launch_blocking",
    .rule_class = RuleClass::observation,
    .severity = Severity::informational,
    .needs = kNeedsLaunches,
    .title = "Launches block until their kernels end",
    .meaning =
        "Launches return only when their kernels have ended, as with CUDA_LAUNCH_BLOCKING=1. CPU and GPU do not overlap, so "
        "times are too long but easy to attribute.",
    .remedy = "This helps to read a trace and to find a failing kernel. Unset the variable before measuring.",
    .check = check_launch_blocking,
};

}  // namespace gapscope
