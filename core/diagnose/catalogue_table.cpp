// A. The profiler table.
#include <array>

#include "core/diagnose/catalogue.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {

std::span<const Rule* const> table_rules() {
  static constexpr std::array kRules = {&overhead_bound, &compute_bound,    &gpu_hotspot,
                                       &many_calls,     &cost_in_children, &annotation_span_not_busy};
  return kRules;
}

}  // namespace gapscope
