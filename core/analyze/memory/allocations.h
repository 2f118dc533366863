#pragma once
// Which memory was in use when, allocation by allocation, of a recording with profile_memory=True.
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

constexpr std::uint32_t kNoRecord = ~std::uint32_t{0};

// It ends with the next record on its device that frees its address, or asks for that address anew.
struct Allocation {
  std::uint32_t born =
      kNoRecord;  // position in Trace::memory; none of what was in use when the recording began and is freed in it
  std::uint32_t ended = kNoRecord;  // the record that ends it; none: it is not freed in this recording
  std::int64_t bytes = 0;           // positive

  // One of its records: it has at least one.
  std::uint32_t record() const { return born != kNoRecord ? born : ended; }
  Span alive(const Trace& trace) const {
    return {born == kNoRecord ? trace.span.begin : trace.memory[born].time,
            ended == kNoRecord ? trace.span.end : trace.memory[ended].time};
  }
};

// Of all devices, in order of record(). Records that failed or move no bytes are none of them. O(n). Ends early, with anything,
// once `cancel` (may be null) is set.
std::vector<Allocation> allocations(const Trace& trace, const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
