#pragma once
// Doubts about a recording, as `info --json` and `overview --json` give them.
#include <vector>

#include <nlohmann/json.hpp>

#include "core/trace/doubt.h"

namespace gapscope {

// [{"kind", "count", "affects", "said", "mended"}]
nlohmann::ordered_json doubts_json(const std::vector<Doubt>& doubts);

}  // namespace gapscope
