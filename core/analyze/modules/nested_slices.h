#pragma once
// Some slices of a trace, and which of them is the innermost around a moment: the one that began last, then the one that ends
// first, then the later in the file. A slice covers [begin, end); one of no duration covers nothing. Slices may overlap without
// nesting: a frame that an exception left without its end reaches to the trace's end. O(n log n) to make, O(n + m log m) for m
// moments, however deep.
#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

struct Moment {
  LaneId lane;
  Ns time = 0;
};

class NestedSlices {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Refers to the trace. Each slice once, in any order.
  NestedSlices(const Trace& trace, std::vector<SliceId> slices);

  // By (lane, begin, longer first, file order): an outer one before an inner one.
  std::size_t size() const { return slices_.size(); }
  SliceId operator[](std::size_t i) const { return slices_[i]; }
  LaneId lane(std::size_t i) const { return trace_.lane_id(slices_[i]); }
  const std::vector<SliceId>& slices() const { return slices_; }

  // The position of the innermost slice around each moment, in the order of the moments; kNone where there is none.
  std::vector<std::uint32_t> innermost(std::span<const Moment> moments) const;
  // The position of the slice around each slice's begin that is outside it; kNone where there is none.
  std::vector<std::uint32_t> parents() const;

 private:
  const Trace& trace_;
  std::vector<SliceId> slices_;
};

}  // namespace gapscope
