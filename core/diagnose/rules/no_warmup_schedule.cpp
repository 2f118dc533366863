#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_no_warmup_schedule(const Facts& facts) {
  if (facts.steps.empty() || facts.trace.name(facts.steps.front()) != "ProfilerStep#0") return {};
  const SliceId first = facts.steps.front();
  std::size_t requests = 0;
  for (const SliceId s : facts.overheads) requests += facts.trace.name(s) == "Activity Buffer Request" ? 1 : 0;
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = "The first recorded step is ProfilerStep#0: no wait or warm-up step came before it.";
  if (requests > 0) finding.summary += " The profiler allocated its buffers during the recording.";
  finding.evidence = Evidence({{"first", facts.trace.name(first)}});
  finding.spans.push_back(span_of_slice(facts.trace, first));
  return {std::move(finding)};
}

}  // namespace

extern const Rule no_warmup_schedule = {
    .id = "no_warmup_schedule",
    .rule_class = RuleClass::recording,
    .severity = Severity::informational,
    .needs = kNeedsSteps,
    .title = "The recording has no warm-up",
    .meaning =
        "The recording has the very first step. Its times include start-up costs of PyTorch, of libraries and of the profiler.",
    .remedy = "Pass schedule(wait=1, warmup=1, active=N) to the profiler and call step() after each iteration{warm_up!}.",
    .check = check_no_warmup_schedule,
    .other_meaning =
        "The recording has the very first step. Its times include start-up costs of the driver, of libraries and of the "
        "profiler.",
    .other_remedy = "Run some iterations before the first step, or record later ones (--range or --delay of gapscope record).",
};

}  // namespace gapscope
