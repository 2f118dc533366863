#pragma once
// Which operator a profiler overhead happened in, by PyTorch's own rule. Only the exact table needs it: there an overhead
// inherits that operator's id and with it the operator's kernels.
#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

// An event as the frame stacks see it.
struct FrameEvent {
  Ns begin = 0;
  Ns end = 0;
  std::uint64_t offset = 0;    // file order
  std::uint64_t id = 0;        // what it hands down: External id, correlation; 0 for Python frames and overheads
  bool from_kineto = false;    // the base order puts PyTorch's events before Kineto's at equal times
  bool passes_on = false;      // id 0 and asks its own frame (overheads)
  std::int32_t overhead = -1;  // position in the result, for overheads
};

// The id that each overhead inherits (0 for none), in the order of FrameEvent::overhead. `events`: all frames of the
// thread that stopped the profiler, in base order.
std::vector<std::uint64_t> inherited_ids(const std::vector<FrameEvent>& events, std::size_t overheads);

}  // namespace gapscope
