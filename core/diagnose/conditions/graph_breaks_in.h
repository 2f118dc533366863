#pragma once
#include <vector>

#include "core/analyze/compiled/graph_breaks.h"
#include "core/diagnose/facts.h"

namespace gapscope {

// Where one compiled function ended and Python ran until the next.
std::vector<GraphBreak> graph_breaks_in(const Facts& facts);

}  // namespace gapscope
