#pragma once
// What remedies would give, as JSON.
#include <nlohmann/json_fwd.hpp>

#include "core/diagnose/diagnose.h"

namespace gapscope {

// Of one finding: gain_ns and more; null where its remedy was not replayed.
nlohmann::ordered_json gain_json(const Diagnosis& diagnosis, const RankedFinding& finding);
// Null where nothing was replayed.
nlohmann::ordered_json plan_json(const Diagnosis& diagnosis);

}  // namespace gapscope
