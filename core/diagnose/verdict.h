#pragma once
// What a trace is in one paragraph: what it is bound by, and the numbers that say so.
#include <string>
#include <vector>

#include "core/diagnose/diagnose.h"

namespace gapscope {

std::string verdict_of(const Facts& facts, const std::vector<RankedFinding>& findings);

}  // namespace gapscope
