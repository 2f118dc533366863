#pragma once
// What the chart of a memory snapshot shows, for columns of pixels: the holders upon each other, and in them the blocks that
// are large enough to be distinguished. Its work is bounded by pixels, whatever the number of events.
#include <cstdint>
#include <vector>

#include "core/snapshot/opened_snapshot.h"
#include "core/view/view_state.h"

namespace gapscope {

// The horizontal axis: each event as wide as the next, or by time. A position is in nanoseconds since the first event, or in
// thousandths of an event.
class MemoryAxis {
 public:
  static constexpr Ns kEvent = 1000;

  MemoryAxis(const SnapshotDevice& device, bool by_time) : device_(device), by_time_(by_time) {}
  Span reach() const;  // of all events
  // The first event at or after a position; the number of events where there is none.
  std::uint32_t event_at(Ns position) const;
  Ns position_of(std::uint32_t event) const;
  // Of what has a time of its own, as annotations do.
  Ns position_at(std::int64_t time_us) const;
  bool by_time() const { return by_time_; }

 private:
  Ns since_begin(std::int64_t time_us) const;

  const SnapshotDevice& device_;
  bool by_time_;
};

struct AreaRun {
  static constexpr std::uint32_t kRest = 0xffff'ffff;
  std::uint8_t band = 0;
  std::uint32_t block = kRest;        // in BlockHistory::blocks(); else what of the band is not distinguished
  std::uint32_t first = 0, last = 0;  // columns [first, last)
  std::int64_t low = 0, high = 0;     // bytes
};

struct MemoryAreas {
  std::vector<AreaRun> runs;         // those of a band next to each other; in a column they do not lie over each other
  std::vector<std::size_t> moments;  // of each column the changes of BlockHistory that it shows: where most is in use
};

// `pixel`: bytes that a pixel is high.
MemoryAreas memory_areas(const BlockHistory& history, const MemoryAxis& axis, const TimeView& view, std::uint32_t columns,
                         std::int64_t pixel);
// What is there; null of empty room.
const AreaRun* run_at(const MemoryAreas& areas, std::uint32_t column, std::int64_t bytes);

}  // namespace gapscope
