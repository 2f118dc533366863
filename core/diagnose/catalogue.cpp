#include "core/diagnose/catalogue.h"

#include <algorithm>

#include "core/diagnose/guide.h"

namespace gapscope {
namespace {

std::vector<const Rule*> in_order_of_guide() {
  const std::span<const Rule* const> found = rule_list();
  std::vector<const Rule*> rules(found.begin(), found.end());
  const auto place = [](const Rule* rule) { return guide_section(rule->id).text.data(); };
  std::sort(rules.begin(), rules.end(), [&](const Rule* a, const Rule* b) { return std::less<>()(place(a), place(b)); });
  return rules;
}

}  // namespace

const std::vector<const Rule*>& all_rules() {
  static const std::vector<const Rule*> rules = in_order_of_guide();
  return rules;
}

const Rule* rule_by_id(std::string_view id) {
  for (const Rule* rule : all_rules())
    if (rule->id == id) return rule;
  return nullptr;
}

}  // namespace gapscope
