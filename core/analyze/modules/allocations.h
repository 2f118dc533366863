#pragma once
// The allocations of GPU memory of a recording with profile_memory=True: where each was asked for, and whether it was still in
// use when its device held most. An allocation ends with the next record that frees its address, or asks for that address anew.
#include <cstdint>
#include <vector>

#include "core/analyze/modules/nested_slices.h"

namespace gapscope {

struct Allocation {
  Moment at;  // the lane is none where the file does not say
  std::int64_t bytes = 0;
  std::int64_t bytes_at_peak = 0;  // all of them, or 0; of the first moment at which the device's total is highest
};

struct Allocations {
  std::vector<Allocation> all;  // in order of time
  bool knows_peak = false;      // every record states its address, and its device's total
};

// Records of the CPU are left out. O(n).
Allocations gpu_allocations(const Trace& trace);

}  // namespace gapscope
