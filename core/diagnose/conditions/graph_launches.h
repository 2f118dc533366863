#pragma once
// Replays of CUDA graphs.
#include <vector>

#include "core/diagnose/facts.h"

namespace gapscope {

struct GraphLaunch {
  SliceId call;
  std::size_t nodes = 0;  // GPU operations
  Ns gpu_time = 0;
};
// In time order.
std::vector<GraphLaunch> graph_launches(const Facts& facts);

}  // namespace gapscope
