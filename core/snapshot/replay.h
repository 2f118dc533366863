#pragma once
// A snapshot's history, replayed: how much was held when, and by what. Events are numbered from 0 in the list of their device;
// "at event N" is after it.
//
// What is known is the end. From there the events are undone one by one. Their sizes are those that were asked for, so totals
// of the past differ from PyTorch's rounded ones by what rounding added (blocks that still live have their real size).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/snapshot/snapshot.h"

namespace gapscope {

struct SnapshotPeak {
  std::int64_t bytes = 0;  // most that blocks held at a time
  std::optional<std::uint32_t>
      event;  // the first allocation that reached it; none: it was before the history, or there is none
};
SnapshotPeak peak_of(const SnapshotDevice& device);

inline constexpr std::uint32_t kBeforeHistory = 0xffff'ffff;  // as an event: before event 0

struct HeldBlock {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  StackId stack = 0;                            // 0 where it is not known
  std::uint32_t allocated_by = kBeforeHistory;  // event
};

// What may be given out together: blocks of a pool on a stream.
struct SnapshotPool {
  bool is_large = false;  // requests over 1 MiB; the small pool serves the others
  bool is_expandable = false;
  std::uint64_t stream = 0;
  StringId graph_pool = StringId(0);  // empty for the common pool
  std::int64_t reserved = 0, held = 0, largest_free = 0;
  std::int64_t free() const { return reserved - held; }
};

// What the device gave: of an expandable segment the stretch that is mapped without a gap.
struct HeldSegment {
  std::uint64_t begin = 0, end = 0;
  std::size_t pool = 0;  // in SnapshotState::pools
};

struct SnapshotState {
  SnapshotTotals totals;
  std::vector<HeldBlock> held;  // by address
  std::vector<SnapshotPool> pools;
  std::vector<HeldSegment> segments;  // by address
};

// Where the next block may begin: sizes of the past are as requested, and the allocator rounds them up.
std::uint64_t rounded_end(const HeldBlock& block);

// At the end where there is no `event`; that is what the segments in the file say, to the byte. `event`: below the number of
// events, or kBeforeHistory. Walks over the whole history.
SnapshotState state_at(const Snapshot& snapshot, const SnapshotDevice& device, std::optional<std::uint32_t> event = {});

}  // namespace gapscope
