#pragma once
// Graphs that a trace replays, as sequences of GPU work to be compared with captures. A launch of a graph is one call and much
// work: where CUDA states `graph node id`, the launches of one `graph id` are one graph whose nodes are in order of these ids,
// which is that of their capture; else each launch is alone, its work in order of begin.
#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

struct ReplayedNode {
  StringId name;  // of the kernel
  char letter = 'k';
  std::int32_t stream = -1;
  std::uint64_t id = 0;             // `graph node id`; 0 where there is none
  std::vector<std::uint32_t> work;  // positions in Trace::gpu: one a launch
};

struct ReplayedGraph {
  SliceId launch;  // the first one
  std::uint32_t launches = 0;
  std::vector<ReplayedNode> nodes;
  bool has_ids = false;     // nodes are in order of `graph node id`
  bool one_stream = true;   // all work of it
  std::int64_t tokens = 0;  // of the pass that a serving engine states around the launch; 0 where none does

  std::uint64_t pieces() const;
};
// In order of graph ids, then of launches.
std::vector<ReplayedGraph> replayed_graphs(const Trace& trace);

}  // namespace gapscope
