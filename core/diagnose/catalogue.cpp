#include "core/diagnose/catalogue.h"

namespace gapscope {

const std::vector<const Rule*>& all_rules() {
  static const std::vector<const Rule*> rules = [] {
    std::vector<const Rule*> all;
    for (const auto part : {table_rules(), cpu_lane_rules(), gpu_lane_rules(), dispatch_rules(), compile_rules(), gpu_use_rules(),
                            copy_and_sync_rules(), recording_rules(), further_rules()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return rules;
}

const Rule* rule_by_id(std::string_view id) {
  for (const Rule* rule : all_rules())
    if (rule->id == id) return rule;
  return nullptr;
}

}  // namespace gapscope
