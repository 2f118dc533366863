#include <cstddef>
#include <vector>

#include "core/diagnose/verdict.h"
#include "core/view/overview/overview_page.h"

namespace gapscope {
namespace {

constexpr std::size_t kFindingsFirst = 3;

}  // namespace

std::vector<FirstFinding> first_findings(const Diagnosis& diagnosis) {
  std::vector<FirstFinding> found;
  // Before anything else it is to be recorded again, or nobody knows what limits it.
  if (diagnosis.bound == Bound::start_up || diagnosis.bound == Bound::not_judged) return found;
  for (const Plan::Item& item : diagnosis.plan.items)
    found.push_back({&diagnosis.findings[static_cast<std::size_t>(item.finding)], &item});
  const bool is_replayed = diagnosis.plan.run > 0;
  for (const RankedFinding& f : diagnosis.findings) {
    if (!diagnosis.plan.items.empty()) break;
    const bool unknown = !f.gain && (!is_replayed || f.finding.severity == Severity::costly);
    if (unknown && f.led_by < 0 && f.finding.cost > 0 && !is_teaching(f.finding.rule->rule_class))
      found.push_back({&f, nullptr});
  }
  if (found.size() > kFindingsFirst) found.resize(kFindingsFirst);
  return found;
}

}  // namespace gapscope
