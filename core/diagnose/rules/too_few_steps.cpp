#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_too_few_steps(const Facts& facts) {
  if (facts.steps.size() != 1) return {};
  const SliceId step = facts.steps.front();
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format("Only {} of {} was recorded.", shown_name(facts.trace.name(step)),
                                format_duration(facts.trace.duration(step)));
  finding.evidence = Evidence({{"steps", facts.steps.size()}});
  finding.spans.push_back(span_of_slice(facts.trace, step));
  return {std::move(finding)};
}

}  // namespace

extern const Rule too_few_steps = {
    .id = "too_few_steps",
    .rule_class = RuleClass::recording,
    .severity = Severity::informational,
    .needs = kNeedsSteps,
    .title = "Only one step was recorded",
    .meaning = "One step does not show how much steps vary or which part is start-up.",
    .remedy = "Record more steps, for example with active=20 in the profiler's schedule.",
    .check = check_too_few_steps,
    .other_remedy = "Record more steps.",
};

}  // namespace gapscope
