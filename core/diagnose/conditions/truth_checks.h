#pragma once
// Branches on what the GPU computed: `if torch.isnan(x).any():`, `if not torch._is_all_true(valid):`.
#include <vector>

#include "core/diagnose/facts.h"

namespace gapscope {

enum class TruthCheck : std::uint8_t {
  any,  // aten::any of isnan and its like: whether a value is not finite; of nothing else
  all,  // aten::all, _is_all_true: whether values are as they have to be
};
struct GpuBranch {
  SliceId read;  // aten::is_nonzero, which waits for the GPU
  Span span;     // from the first operator that is there for it alone to the end of the read
  TruthCheck check = TruthCheck::any;
};
// In time order by thread. Those of compiling are left out. O(operators), and nothing where no value is asked for.
std::vector<GpuBranch> gpu_branches(const Facts& facts);

}  // namespace gapscope
