#pragma once
// Calls that ask the runtime about occupancy before a kernel is launched.
#include <vector>

#include "core/diagnose/facts.h"

namespace gapscope {

// cudaOccupancy* calls that a kernel launch of the same operator follows on their thread. Others speak of no kernel: a library
// may ask when it is set up. In order of their names, then as they lie in the trace.
std::vector<SliceId> occupancy_queries(const Facts& facts);

}  // namespace gapscope
