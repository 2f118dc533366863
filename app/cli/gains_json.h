#pragma once
// What remedies would give, as JSON.
#include <nlohmann/json_fwd.hpp>

#include "core/diagnose/diagnose.h"

namespace gapscope {

// Of one finding: gain_ns and more; null where its remedy was not replayed.
nlohmann::ordered_json gain_json(const Diagnosis& diagnosis, const RankedFinding& finding);
// The plain program: step_ns and more; null where nothing is said of it.
nlohmann::ordered_json plain_json(const PlainProgram* plain, const std::string& verdict);
// {file, line, function, module} of the program's own code, and the line that the remedy makes of it; null where not known.
nlohmann::ordered_json where_json(const Finding& finding);
nlohmann::ordered_json code_json(const Finding& finding);
// Null where nothing was replayed.
nlohmann::ordered_json plan_json(const Diagnosis& diagnosis);

}  // namespace gapscope
