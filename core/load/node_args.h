#pragma once
// What the args of launching calls state of the node that each made of a captured graph.
#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

struct StatedNode {
  std::string kernel;         // "kernel", which ROCm writes; empty where there is none
  std::uint64_t node_id = 0;  // "graph node id"; 0 where there is none
};
// One for each call, in their order; empty ones where the file cannot be read any more. One pass over the file, and none where
// the first few state neither.
std::vector<StatedNode> read_stated_nodes(const Trace& trace, const std::vector<SliceId>& calls);

}  // namespace gapscope
