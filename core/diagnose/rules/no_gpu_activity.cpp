#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_no_gpu_activity(const Facts& facts) {
  if (!facts.ops.empty()) return {};
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = facts.has_launches ? "This file has calls of the CUDA runtime but no kernel, copy or memset."
                                       : "This file has no kernel, copy or memset, and no call of the CUDA runtime.";
  if (facts.has_launches)
    finding.advice =
        advice_of("Check that the launched work reaches the GPU during the recording. Calls of the runtime were recorded.");
  if (!facts.trace.producer->is_pytorch) {
    finding.summary = facts.trace.producer->no_gpu_work;
    finding.advice = plain_advice(fmt::format("Use {}.", facts.trace.producer->gpu_work));
  }
  finding.evidence = Evidence({{"gpu_ops", facts.ops.size()}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule no_gpu_activity = {
    .id = "no_gpu_activity",
    .rule_class = RuleClass::data_health,
    .severity = Severity::informational,
    .needs = kNeedsNothing,
    .title = "No GPU work is in the file",
    .meaning = "Only the CPU was recorded, the profiler's activities leave the GPU out, or nothing was launched.",
    .remedy = "Record with ProfilerActivity.CUDA among the activities, and check that work reaches the GPU.",
    .check = check_no_gpu_activity,
};

}  // namespace gapscope
