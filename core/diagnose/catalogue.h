#pragma once
// Every rule: each file of core/diagnose/rules defines the rule that it is named after.
#include <span>
#include <string_view>
#include <vector>

#include "core/diagnose/rule.h"

namespace gapscope {

// As the build found them, in alphabetical order; made from the folder (rule_list.cpp.in).
std::span<const Rule* const> rule_list();

// In the order of the guide (assets/guide/findings.md).
const std::vector<const Rule*>& all_rules();
// Null when there is none.
const Rule* rule_by_id(std::string_view id);

}  // namespace gapscope
