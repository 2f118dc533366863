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

// One for each moment, in their order.
std::vector<WorkMoment> work_moments(const Trace& trace, const NestedSlices& frames, const std::vector<Moment>& moments);
// Likewise of the begins of launches (calls, or any slices of CPU threads).
std::vector<WorkMoment> work_moments(const Trace& trace, const NestedSlices& frames, const std::vector<SliceId>& launches);

}  // namespace gapscope
