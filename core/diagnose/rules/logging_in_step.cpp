#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/library_work.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastLoggingShare = 0.02;  // of the window

std::vector<Finding> check_logging_in_step(const Facts& facts) {
  std::vector<SliceId> calls;
  Ns time = 0;
  for (const LibraryCall& call : library_calls(facts)) {
    if (call.task != LibraryTask::logging) continue;
    calls.push_back(call.frame);
    add_saturating(time, facts.trace.duration(call.frame));
  }
  const double share = share_of(time, facts.window_length);
  if (calls.empty() || share < kLeastLoggingShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time;
  finding.summary =
      fmt::format("The thread that launches GPU work also {}: {}, {} in total, {} of the window.",
                  task_words(LibraryTask::logging), counted(calls.size(), "call"), format_duration(time), format_share(share));
  finding.evidence = Evidence({{"n", calls.size()}, {"total_us", as_us(time)}, {"share", share}});
  if (!facts.steps.empty())
    finding.evidence.add("per_step", static_cast<double>(calls.size()) / static_cast<double>(facts.step_count()));
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule logging_in_step = {
    .id = "logging_in_step",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsGpuWork,
    .title = "Logging takes time in the steps",
    .meaning =
        "Each log entry formats a value and writes or sends it, often after reading it from the GPU. The next kernel is "
        "launched only after that.",
    .remedy = "Log less often, for example every 100 steps, and leave values on the GPU until then (loss.detach()).",
    .check = check_logging_in_step,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 36, .explains = {"host_pause"}},
    .code = "if step % 100 == 0:",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
