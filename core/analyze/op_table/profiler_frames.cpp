#include "core/analyze/op_table/profiler_frames.h"

#include <algorithm>

namespace gapscope {

std::vector<std::uint64_t> inherited_ids(const std::vector<FrameEvent>& events, std::size_t overheads) {
  struct Frame {
    Ns earliest_end;   // of this frame and all below it: when a frame closes, all above it close
    std::uint64_t id;  // what an overhead directly inside inherits
  };
  std::vector<Frame> stack;
  std::vector<std::uint64_t> inherited(overheads, 0);
  for (const FrameEvent& e : events) {
    while (!stack.empty() && stack.back().earliest_end < e.begin) stack.pop_back();
    const std::uint64_t from_frame = stack.empty() ? 0 : stack.back().id;
    if (e.overhead >= 0) inherited[static_cast<std::size_t>(e.overhead)] = from_frame;
    if (e.end <= e.begin) continue;
    const Ns below = stack.empty() ? e.end : stack.back().earliest_end;
    stack.push_back({std::min(e.end, below), e.passes_on ? from_frame : e.id});
  }
  return inherited;
}

}  // namespace gapscope
