#include "core/view/modules/modules_words.h"

#include <algorithm>

namespace gapscope {

std::string missing_figures(const ModuleUse& use) {
  if (use.rows.empty()) return {};
  const bool has_rates =
      std::any_of(use.rows.begin(), use.rows.end(), [](const ModuleRow& row) { return row.totals.flops_time > 0; });
  std::string out;
  if (!has_rates) out += "No rates: no product in them has its shapes recorded (record_shapes=True).";
  if (use.memory.allocations == 0)
    out += (out.empty() ? std::string() : " ") + "No memory: no GPU allocation is recorded (profile_memory=True).";
  return out;
}

}  // namespace gapscope
