#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_aot_prologue(const Facts& facts) {
  std::vector<SliceId> prologues = cpu_slices_called(facts, "AOTDispatcher Runtime Wrapper Prologue", kIsOp);
  if (prologues.empty()) return {};
  std::vector<Ns> times;
  for (const SliceId s : prologues) times.push_back(facts.trace.duration(s));
  const std::size_t count = times.size();
  const Ns median = median_of(std::move(times));
  Finding finding;
  finding.summary = fmt::format("{} of the wrapper around compiled code: {}{}.", counted(count, "call"),
                                format_duration(median), count == 1 ? "" : " each (median)");
  finding.evidence = Evidence({{"n", count}, {"median_us", as_us(median)}});
  mark_slices(finding, facts.trace, prologues);
  return {std::move(finding)};
}

}  // namespace

extern const Rule aot_prologue = {
    .id = "aot_prologue",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsOperators,
    .title = "AOTAutograd's wrapper",
    .meaning = "AOTAutograd prepares the inputs before each call of a compiled graph, with or without gradients.",
    .remedy = "Nothing to do.",
    .check = check_aot_prologue,
};

}  // namespace gapscope
