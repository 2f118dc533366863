#pragma once
// The slices of a lane in time order, merged from its rows without sorting: O(log depths) a slice.
#include <algorithm>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

// Slices [first, last) of one row.
struct RowPart {
  std::uint32_t first = 0, last = 0;
};

// Calls visit(slice) in order of (begin, depth); `parts` by depth.
template <class Visit>
void walk_parts(const Trace& trace, const std::vector<RowPart>& parts, Visit visit) {
  struct Head {
    Ns begin;
    std::uint32_t depth, at, stop;
    bool operator<(const Head& o) const {
      return begin != o.begin ? begin > o.begin : depth > o.depth;
    }  // a heap wants the last first
  };
  std::vector<Head> heads;
  for (std::uint32_t depth = 0; depth < parts.size(); ++depth) {
    const auto [first, last] = parts[depth];
    if (first < last) heads.push_back({trace.slices.begin[first], depth, first, last});
  }
  std::make_heap(heads.begin(), heads.end());
  while (!heads.empty()) {
    std::pop_heap(heads.begin(), heads.end());
    Head& head = heads.back();
    visit(SliceId(head.at));
    if (++head.at < head.stop) {
      head.begin = trace.slices.begin[head.at];
      std::push_heap(heads.begin(), heads.end());
    } else {
      heads.pop_back();
    }
  }
}

// The same for a whole lane.
template <class Visit>
void walk_lane(const Trace& trace, LaneId lane_id, Visit visit) {
  const Lane& lane = trace.lane(lane_id);
  std::vector<RowPart> parts;
  for (std::uint32_t depth = 0; depth < lane.depth_count; ++depth) {
    const Row& row = trace.rows[lane.first_row + depth];
    parts.push_back({row.first, row.first + row.count});
  }
  walk_parts(trace, parts, visit);
}

}  // namespace gapscope
