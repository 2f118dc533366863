#pragma once
// What recording may have added to the host's time: PyTorch's profiler keeps a record of every operator, call and annotation,
// and with stacks one of every Python function.
//
// Measured with tests/gpu/pairs.py: 13 training loops on a machine with an H100 and 16 cores, PyTorch 2.11, record_shapes=True,
// steps with the profiler against steps without it. Without stacks 23 host-bound recordings took longer by 4.9 us a record in
// the median, the middle half 3.6 to 5.8 us. With stacks they took 2.2 us a frame more, from nothing to 4.4 us: processes on
// that machine differ by more than this. Steps were twice as long in the median, 2.9 times at most. Other hosts differ: it is a
// bound, not a correction.
#include <cstdint>

#include "core/base/time.h"
#include "core/trace/trace.h"

namespace gapscope {

struct ProfilerCost {
  std::uint64_t records = 0;  // that begin in the window, Python frames among them
  std::uint64_t frames = 0;
  Ns most = 0;  // of the window's time

  double share_of(Ns window) const { return window > 0 ? static_cast<double>(most) / static_cast<double>(window) : 0; }
};

// Of a recording of PyTorch's profiler; all 0 where the file has no operators. Linear in the slices.
ProfilerCost profiler_cost(const Trace& trace, Span window);

}  // namespace gapscope
