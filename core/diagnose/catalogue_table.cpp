// A. The profiler table.
#include <array>

#include "core/diagnose/catalogue.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {

std::span<const Rule* const> table_rules() {
  static constexpr std::array kRules = {&overhead_bound};
  return kRules;
}

}  // namespace gapscope
