#pragma once
// An area: a stretch of time on some of the lanes, as a person marks it. A slice touches it when a part of it that is not
// empty is within the time (an empty slice: when it begins there); its time in the area is what is left when it is cut at
// the edges.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

struct Area {
  Span span;
  std::vector<LaneId> lanes;  // ascending
  friend bool operator==(const Area&, const Area&) = default;

  bool has(LaneId lane) const { return std::binary_search(lanes.begin(), lanes.end(), lane); }
};

// All of the trace.
Area whole_area(const Trace& trace);
Area area_of_all_lanes(const Trace& trace, Span span);

inline bool touches(Span slice, Span area) {
  return slice.begin < area.end && (slice.end > area.begin || slice.begin >= area.begin);
}
// Positions [first, last) of the slices of a row that touch the time. O(log n).
std::pair<std::uint32_t, std::uint32_t> slices_touching(const Trace& trace, const Row& row, Span area);

}  // namespace gapscope
