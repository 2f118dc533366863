#pragma once
// Compiled code: the regions of torch.compile and what ran on the GPU for each.
#include <vector>

#include "core/diagnose/facts.h"

namespace gapscope {

// Every Torch-Compiled Region, nested ones too.
std::vector<SliceId> compiled_regions(const Facts& facts);

// One call of the program into compiled code: a region that is in no other.
struct RegionCall {
  SliceId region;
  bool compiles = false;    // holds compile frames, or is in one
  std::size_t gpu_ops = 0;  // with their launch inside
  Ns gpu_time = 0;
  std::size_t triton = 0;       // kernels that Inductor generated
  std::size_t graph_nodes = 0;  // of CUDA graphs replayed here
  Ns graph_time = 0;
  std::size_t copies = 0;  // GPU work of aten::copy_ and aten::_foreach_copy_
  Ns copy_time = 0;

  bool replays_graph(const Facts& facts) const { return (facts.below(region) & kIsGraphLaunch) != 0; }
};
std::vector<RegionCall> region_calls(const Facts& facts);

}  // namespace gapscope
