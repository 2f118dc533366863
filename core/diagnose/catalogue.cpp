#include "core/diagnose/catalogue.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/diagnose/guide.h"

namespace gapscope {
namespace {

std::vector<const Rule*> in_order_of_guide() {
  const std::span<const Rule* const> found = rule_list();
  std::vector<std::pair<const char*, const Rule*>> places;  // each is searched for once
  for (const Rule* rule : found) places.emplace_back(guide_section(rule->id).text.data(), rule);
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return std::less<>()(a.first, b.first); });
  std::vector<const Rule*> rules;
  for (const auto& [place, rule] : places) rules.push_back(rule);
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
