#pragma once
// What LaneIndex answers for a lane with too many depths to look at one after the other: who encloses whom, and what is
// innermost at a time, found in one walk and saved. No recording has such a lane; calls that recurse and spans that overlap
// without end do.
//
// O(n log depths) to build and 24 to 60 bytes a slice, of such lanes only; then a parent is O(1), what is innermost at a time
// O(log n). Refers to nothing.
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/column.h"
#include "core/trace/trace.h"

namespace gapscope {

class DeepLane {
 public:
  // From so many depths on this is faster than looking at them all.
  static constexpr std::uint32_t kLeastDepths = 129;

  // Once `cancel` (may be null) is set it ends early, and may only be thrown away.
  DeepLane(const Trace& trace, LaneId lane, const std::atomic<bool>* cancel = nullptr);

  // As LaneIndex says; slices and times of this lane.
  SliceId parent(SliceId slice) const { return parent_[slice.value - first_]; }
  std::span<const SliceId> children(SliceId slice) const;
  SliceId innermost_at(Ns t) const { return all_.at(t); }
  SliceId innermost_op_at(Ns t) const { return (only_ops_ ? all_ : ops_).at(t); }

 private:
  // Which slice is innermost from a time until the next one.
  struct Innermost {
    Column<Ns> from;
    Column<SliceId> slice;

    void add(Ns t, SliceId s);
    SliceId at(Ns t) const;
  };
  class Sweep;
  void walk(const Trace& trace, LaneId lane, const std::atomic<bool>* cancel);
  void gather_children(const Trace& trace);

  std::uint32_t first_;                // the lane's first slice
  Column<SliceId> parent_;             // by slice, counted from there
  Column<std::uint32_t> first_child_;  // by parent, and one past the end
  Column<SliceId> children_;
  Innermost all_, ops_;  // ops_: of operators and annotations alone; empty where the lane holds nothing else
  bool only_ops_ = true;
};

}  // namespace gapscope
