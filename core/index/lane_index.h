#pragma once
// Questions about one lane, answered in O(log n) however deep it is (see deep_lane.h): what is at a time and depth, what
// encloses a slice, what is in it, and what is visible at a given zoom. Holds a reference to the trace, which must outlive
// it.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/index/deep_lane.h"
#include "core/index/row_levels.h"
#include "core/index/row_window.h"
#include "core/trace/trace.h"

namespace gapscope {

class LaneIndex {
 public:
  // Once `cancel` (may be null) is set it ends early, and may only be thrown away.
  explicit LaneIndex(const Trace& trace, int threads = 1, const std::atomic<bool>* cancel = nullptr);

  // One row, as row_window.h asks for it.
  RowSlices slices_of(RowId row) const;
  // Appends what [view.begin, view.end) shows of one row at `width_px` pixels, in time order. At most two items a
  // pixel column. Work is bounded by pixels, not by slices. width_px >= 1, view not empty.
  void visible(RowId row, Span view, int width_px, std::vector<VisibleItem>& out) const;

  // The slice that covers time t in this row, if any. O(log n).
  SliceId at(RowId row, Ns t) const;
  // The last slice of the row that begins at or before t, or none; the first that begins at or after t, or none.
  SliceId last_begin_at_or_before(RowId row, Ns t) const;
  SliceId first_begin_at_or_after(RowId row, Ns t) const;

  // Whether parent() and what else is asked here needs no look at other depths: who walks along all of them asks this instead.
  bool is_deep(LaneId lane) const { return deep(lane) != nullptr; }
  // The innermost slice of the same lane at a smaller depth that encloses `slice` whole, or none.
  SliceId parent(SliceId slice) const;
  // From the outermost ancestor down to the parent.
  std::vector<SliceId> ancestors(SliceId slice) const;
  // Direct children in time order.
  std::vector<SliceId> children(SliceId slice) const;
  // Duration minus what the direct children cover, which overlap each other in some files.
  Ns self_time(SliceId slice) const;
  // The innermost slice of the lane that covers `t`, or none.
  SliceId innermost_at(LaneId lane, Ns t) const;
  // The innermost slice of the lane covering `t` whose kind is op or annotation (the owner of a call made at t), or none.
  SliceId innermost_op_at(LaneId lane, Ns t) const;
  // Next and previous slice of the same row in time, or none.
  SliceId next_in_row(SliceId slice) const;
  SliceId previous_in_row(SliceId slice) const;

 private:
  const DeepLane* deep(LaneId lane) const { return deep_.empty() ? nullptr : deep_[lane.index()].get(); }

  const Trace& trace_;
  std::vector<RowLevels> levels_;                      // one a row
  std::vector<std::unique_ptr<const DeepLane>> deep_;  // one a lane, null where it is not deep; empty where none is
};

}  // namespace gapscope
