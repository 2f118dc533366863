#pragma once
// Every rule, in the order of the guide.
#include <span>
#include <string_view>
#include <vector>

#include "core/diagnose/rule.h"

namespace gapscope {

// The parts of the guide, each listed in a file of its own.
std::span<const Rule* const> table_rules();
std::span<const Rule* const> cpu_lane_rules();
std::span<const Rule* const> gpu_lane_rules();
std::span<const Rule* const> dispatch_rules();
std::span<const Rule* const> compile_rules();
std::span<const Rule* const> gpu_use_rules();
std::span<const Rule* const> copy_and_sync_rules();
std::span<const Rule* const> recording_rules();
std::span<const Rule* const> further_rules();

const std::vector<const Rule*>& all_rules();
// Null when there is none.
const Rule* rule_by_id(std::string_view id);

}  // namespace gapscope
