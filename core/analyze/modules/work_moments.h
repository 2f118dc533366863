#pragma once
// The moment on a CPU thread that says whose a launch is: its own begin where a frame is around it (forward), else the begin of
// the forward operator that autograd's arrow leads to (backward). Rules 1 to 3 of MODULES.md.
#include <vector>

#include "core/analyze/modules/nested_slices.h"

namespace gapscope {

struct WorkMoment {
  Moment at;
  bool backward = false;                      // reached by an arrow
  std::uint32_t frame = NestedSlices::kNone;  // position in `frames` of the innermost one around it
};

// One for each launch (a call, or any slice of a CPU thread), in their order.
std::vector<WorkMoment> work_moments(const Trace& trace, const NestedSlices& frames, const std::vector<SliceId>& launches);

}  // namespace gapscope
