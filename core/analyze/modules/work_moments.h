#pragma once
// The moment on a CPU thread that says whose a launch is: its own begin where a frame is around it (forward), else the begin of
// the forward operator that autograd's arrow leads to (backward). Rules 1 to 3 of MODULES.md.
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"
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
// The GPU work that counts for these frames, forward and backward, in the order of `ops`; without that of replayed graphs,
// which their capture alone shows.
std::vector<SliceId> work_of_frames(const Trace& trace, const std::vector<GpuOp>& ops, std::vector<SliceId> frames);

}  // namespace gapscope
