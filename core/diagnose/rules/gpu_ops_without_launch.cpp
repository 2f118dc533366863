#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_gpu_ops_without_launch(const Facts& facts) {
  if (!facts.has_launches) return {};  // a recording of the GPU alone
  std::vector<SliceId> orphans;
  Ns time = 0;
  for (const GpuOp& op : facts.ops)
    if (!op.linked()) orphans.push_back(op.slice), add_saturating(time, op.span.length());
  if (orphans.empty()) return {};
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary =
      fmt::format("{} of {} of GPU work, {} in total, {} no launch in the file.", shown_count(orphans.size()),
                  counted(facts.ops.size(), "piece"), format_duration(time), orphans.size() == 1 ? "has" : "have");
  finding.evidence = Evidence({{"n", orphans.size()}, {"of", facts.ops.size()}, {"total_us", as_us(time)}});
  mark_slices(finding, facts.trace, orphans);
  return {std::move(finding)};
}

}  // namespace

extern const Rule gpu_ops_without_launch = {
    .id = "gpu_ops_without_launch",
    .rule_class = RuleClass::data_health,
    .severity = Severity::informational,
    .needs = kNeedsGpuWork,
    .title = "GPU work whose launch is not in the file",
    .meaning =
        "The call that started this work is not in the file. It came before the recording, or its thread was not recorded. "
        "Totals of the profiler table include this work.",
    .remedy = "Leave it out of sums by operator. It counts for the GPU's busy time.",
    .check = check_gpu_ops_without_launch,
};

}  // namespace gapscope
