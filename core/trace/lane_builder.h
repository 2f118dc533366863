#pragma once
// One lane's slices in file order become ordered, nested rows. Pure: knows nothing of names or files.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

// What nesting found out about one lane.
struct NestedLane {
  std::vector<std::uint32_t> row_counts;  // slices per depth
  std::uint32_t overlapping = 0;          // slices that overlap another without nesting
  std::uint32_t first_overlapping = 0;    // the first of them, where there are any
  Span span;
  Ns busy = 0;                            // length of the union
  Ns total_dur = 0;                       // saturates instead of overflowing
};

// `members` are positions in `begin`/`end`, in file order. Reorders them to (begin, longer first, file order), gives
// each a depth, and then reorders them to (depth, begin): the order of Trace::slices inside a lane.
//
// A slice lies one below the innermost slice that encloses it whole, or at depth 0. If that place is taken, because it
// overlaps another slice without nesting, it goes to the next free depth. Two slices of one depth never overlap, and
// empty slices at one instant get depths of their own. `visit_sorted` sees the members in time order before depths are
// applied (flows bind there).
NestedLane nest_lane(std::span<std::uint32_t> members, std::span<const Ns> begin, std::span<const Ns> end,
                     const std::function<void(std::span<const std::uint32_t>)>& visit_sorted);

}  // namespace gapscope
