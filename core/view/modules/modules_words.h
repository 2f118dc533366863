#pragma once
// What a recording lacks for the figures of the modules, and what records it.
#include <string>

#include "core/analyze/modules/modules.h"

namespace gapscope {

// A sentence for each of rates and memory that no module has; empty where both are there, and where no module is.
std::string missing_figures(const ModuleUse& use);

}  // namespace gapscope
