#pragma once
// The memory of a device over time as its allocations upon each other, as PyTorch's memory_viz shows it: the largest at the
// bottom, each where it was in use. Worked out for columns of pixels, so that drawing takes no longer than they are many.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/memory/allocations.h"
#include "core/base/ids.h"

namespace gapscope {

struct Document;

// At most this many are distinguished; all others are one band on top.
constexpr std::size_t kMostBands = 128;

// A part of a band that has one height: columns [first, last), bytes [low, high).
struct StackedRun {
  enum class Of : std::uint8_t { before, allocation, rest } of = Of::allocation;
  std::uint32_t allocation = 0;  // of an allocation: position in AllocationStack::bands
  std::uint32_t first = 0, last = 0;
  std::int64_t low = 0, high = 0;
};

struct AllocationStack {
  Span span;
  std::uint32_t columns = 0;
  std::vector<Allocation> bands;   // largest first
  std::vector<StackedRun> runs;    // band by band, in order of time
  std::vector<std::int64_t> tops;  // bytes by column: all that is in use
  std::int64_t most = 0;           // the highest of these
  bool states_addresses = false;   // by the device's records, without which nothing is known of a single allocation
  std::uint32_t others = 0;        // allocations in use in this time that are in no band of their own
};
// What is in a column is in use at one moment, that at which the device's memory is highest in it. `before` is what the
// device's stated total holds besides all recorded allocations: it was allocated before the recording, and not freed in it.
// Where no total is stated, what was allocated before the recording is unknown and left out.
struct AllocationsQuestion {
  using Answer = AllocationStack;
  static constexpr const char* kToDo = "stack the allocations";
  std::int16_t device_type = 0, device = -1;  // of MemoryDevice
  Span span;                                  // within the trace's
  std::uint32_t columns = 1;                  // 1 or more
  friend bool operator==(const AllocationsQuestion&, const AllocationsQuestion&) = default;
};
std::shared_ptr<const AllocationStack> answer(const Document& document, const AllocationsQuestion& question,
                                              const std::atomic<bool>* cancel);

// Begin of a column; that of `columns` is the end.
Ns begin_of_column(Span span, std::uint32_t columns, std::uint32_t column);

// The innermost operator that asked for it, else the innermost slice; none: outside every slice, or before the recording.
SliceId asked_by(const Document& document, const Allocation& allocation);
// The Python frame in which that was, as source_frame() names it; empty: not recorded.
std::string frame_of(const Document& document, const Allocation& allocation);
// "the recording", of a crop "this part": what allocations may be from before.
std::string recorded_part(const Trace& trace);
// "64.0 MiB by aten::empty", "64.0 MiB from before the recording".
std::string allocation_words(const Document& document, const Allocation& allocation);
// "in use 1.20 ms to 3.40 ms", "in use from 1.20 ms, not freed in this recording".
std::string allocation_time_words(const Document& document, const Allocation& allocation);

}  // namespace gapscope
