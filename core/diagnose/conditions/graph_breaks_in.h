#pragma once
#include <vector>

#include "core/analyze/compiled/graph_breaks.h"
#include "core/diagnose/facts.h"

namespace gapscope {

// Where one piece of a compiled function ended and Python went on to the next.
std::vector<GraphBreak> graph_breaks_in(const Facts& facts);

}  // namespace gapscope
