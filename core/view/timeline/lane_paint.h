#pragma once
// The slices of one depth of one lane as rectangles on whole pixels. No two rectangles of a row share a pixel column,
// so a row costs at most its width, and neighbours in time are neighbours on screen.
#include <string>
#include <vector>

#include "core/index/lane_index.h"
#include "core/view/timeline/lane_layout.h"
#include "core/view/timeline/slice_colour.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {

struct SliceRect {
  int x0 = 0;  // columns [x0, x1), inside [0, width)
  int x1 = 0;
  float y = 0;
  float height = 0;
  SliceColours::Class colour{};
  SliceId slice;            // of a folded run: the longest
  std::uint32_t count = 1;  // slices in it
  Span span;                // from the first begin to the last end
  int width() const { return x1 - x0; }
};

// One depth of a lane's band, as it is arranged.
RowSlices row_of(const Trace& trace, const LaneIndex& lanes, const Band& band, std::uint32_t depth);

// Appends what `row` shows. `scratch` is reused between calls.
void paint_row(const Trace& trace, const RowSlices& row, const PixelGrid& grid, float y, float height, SliceColours& colours,
               std::vector<VisibleItem>& scratch, std::vector<SliceRect>& out);

// Pixel columns with at least one instant of the lane, in order, and how many it holds.
struct InstantMark {
  int x = 0;
  std::uint32_t first = 0;  // position in Trace::instants
  std::uint32_t count = 0;
};
void paint_instants(const Trace& trace, LaneId lane, const PixelGrid& grid, std::vector<InstantMark>& out);

}  // namespace gapscope
