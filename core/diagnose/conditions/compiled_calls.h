#pragma once
// Calls of operators by name; of compiled code: the regions of torch.compile and what ran on the GPU for each.
#include <optional>
#include <string_view>
#include <vector>

#include "core/analyze/compiled/compile_id.h"
#include "core/analyze/work/work_call.h"
#include "core/diagnose/facts.h"

namespace gapscope {

// Slices with one of the bits whose name starts with `prefix`, in time order, without a scan over all slices.
std::vector<SliceId> cpu_slices_called(const Facts& facts, std::string_view prefix, std::uint32_t bits);
// Sizes and types of an operator's inputs; none where they are not recorded.
std::optional<WorkCall> recorded_call(const Facts& facts, SliceId op);
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
