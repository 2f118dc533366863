#pragma once
// What a stretch of time shows of one row of slices at a given zoom: single slices, and runs of them folded where they
// are narrower than a pixel. Work is bounded by pixels, whatever the row holds.
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/index/row_levels.h"

namespace gapscope {

// One thing to draw: a single slice (count == 1, begin/end are the slice's own), or a run of `count` slices, each
// narrower than a pixel and all beginning in one pixel column, folded together.
struct VisibleItem {
  Ns begin = 0;
  Ns end = 0;
  SliceId slice;  // the slice, or the longest of the run
  std::uint32_t count = 1;
};

// A row: disjoint slices in order of begin, and which slice of the trace each is.
struct RowSlices {
  std::span<const Ns> begin;
  std::span<const Ns> end;
  const RowLevels* levels = nullptr;  // of these slices
  std::uint32_t first_id = 0;         // slice `i` of the row is slice first_id + i of the trace...
  std::span<const SliceId> ids;       // ...unless these say which

  SliceId id(std::size_t i) const { return ids.empty() ? SliceId(first_id + static_cast<std::uint32_t>(i)) : ids[i]; }
};

// Appends what [view.begin, view.end) shows at `width_px` pixels, in time order: at most two items a pixel column.
// width_px >= 1, view not empty.
void visible_in_row(const RowSlices& row, Span view, int width_px, std::vector<VisibleItem>& out);

// Position of the slice that covers `t`, or of none (row.begin.size()). O(log n).
std::size_t position_at(const RowSlices& row, Ns t);

}  // namespace gapscope
