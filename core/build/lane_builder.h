#pragma once
// One lane's slices in file order become ordered, nested rows. Pure: knows nothing of names or files.
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/column.h"
#include "core/base/time.h"

namespace gapscope {

// What nesting found out about one lane.
struct NestedLane {
  std::vector<std::uint32_t> row_counts;  // slices per depth
  std::uint32_t overlapping = 0;          // slices that overlap another without nesting
  std::uint32_t first_overlapping = 0;    // the first of them, where there are any
  Span span;
  Ns busy = 0;       // length of the union
  Ns total_dur = 0;  // saturates instead of overflowing
};

// Nests lane after lane; the room it works in is reused.
class LaneNester {
 public:
  // `members` are positions in `begin`/`end`, in file order. Reorders them to (begin, longer first, file order) and gives
  // each a depth.
  //
  // A slice is one below the innermost slice that encloses it whole, or at depth 0. If that place is taken, because it
  // overlaps another slice without nesting, it goes to the next free depth. Two slices of one depth never overlap, and
  // empty slices at one instant get depths of their own. O(n log n), however deep and however they overlap. Times are later
  // than the earliest Ns. Once `cancel` (may be null) is set it ends early, and the result may only be thrown away.
  NestedLane nest(std::span<std::uint32_t> members, std::span<const Ns> begin, std::span<const Ns> end,
                  const std::atomic<bool>* cancel = nullptr);

  // Calls put(member, place) for all members of the lane nested last: its place in the order (depth, begin), which is the
  // order of Trace::slices inside a lane.
  template <class Put>
  void each_place(std::span<const std::uint32_t> members, const NestedLane& lane, Put put) const {
    std::vector<std::uint32_t> next(lane.row_counts.size(), 0);
    for (std::size_t d = 1; d < next.size(); ++d) next[d] = next[d - 1] + lane.row_counts[d - 1];
    if (deep_depths_.empty()) {
      for (std::size_t i = 0; i < members.size(); ++i) put(members[i], next[depths_[i]]++);
    } else {
      for (std::size_t i = 0; i < members.size(); ++i) put(members[i], next[deep_depths_[i]]++);
    }
  }

 private:
  void keep_depth(std::size_t member, std::uint32_t depth, std::size_t members);

  Column<std::uint32_t> spare_;
  Column<std::uint16_t> depths_;       // of the members in time order
  Column<std::uint32_t> deep_depths_;  // instead of those, in the rare lane that is deeper than they can say
};

}  // namespace gapscope
