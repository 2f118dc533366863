#pragma once
// Operators that took far longer than the same operator with the same input shapes usually does, though it called nothing that
// takes so long: the thread was not running. The operating system had given its core to something else, or a quota of CPU time
// (a container's) was used up, which comes back with the quota's period.
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

struct HostStall {
  SliceId op;
  Ns own = 0;     // its time, less that of the slices in it
  Ns median = 0;  // of all calls of this operator with these shapes
};

struct HostStalls {
  std::vector<HostStall> all;  // in order of begin
  Ns time = 0;                 // beyond the medians
  Ns period = 0;               // the median distance of their begins where those are alike; else 0
};

// Of operators with recorded shapes (record_shapes=True), called at least kLeastCalls times; an operator's first call is its
// first use, and no stall. O(n log n).
constexpr std::size_t kLeastCalls = 8;
HostStalls find_host_stalls(const Trace& trace);

}  // namespace gapscope
