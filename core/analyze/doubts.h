#pragma once
// All doubts about a recording: those that loading found, and launches whose GPU work is not in the file.
#include <cstdint>
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/trace/doubt.h"
#include "core/trace/trace.h"

namespace gapscope {

// Launches of kernels and graphs without any GPU work in the file. Those that make nodes of a graph in a capture, and range
// profiling, which records no kernels by design, are left out.
struct LostLaunches {
  std::vector<SliceId> lost;   // ascending
  std::uint64_t launches = 0;  // all
  bool only_at_end = false;    // the others all come before: the file ends before the work of its last launches does
};
// `ops`: gpu_ops() of the trace. O(calls + ops).
LostLaunches lost_launches(const Trace& trace, const std::vector<GpuOp>& ops);

// In the order of the kinds. `ops`: as above.
std::vector<Doubt> doubts_of(const Trace& trace, const std::vector<GpuOp>& ops);

}  // namespace gapscope
