#include "core/view/timeline/lane_paint.h"

#include <algorithm>

#include "core/base/gallop.h"

namespace gapscope {
namespace {

// Two runs in one pixel column are one run; the longer slice speaks for it.
void fold_into(SliceRect& run, const VisibleItem& item, const Trace& trace) {
  run.count += item.count;
  run.span = hull(run.span, {item.begin, item.end});
  if (trace.duration(item.slice) > trace.duration(run.slice)) run.slice = item.slice;
}

// The first moment behind a column: asked once, where many moments are compared with it.
Ns first_behind(const PixelGrid& grid, int column) {
  Ns end = grid.begin_of(column + 1);
  while (grid.column(end - 1) > column) --end;  // begin_of() rounds on its own
  while (grid.column(end) <= column) ++end;
  return end;
}

}  // namespace

RowSlices row_of(const Trace& trace, const LaneIndex& lanes, const Band& band, std::uint32_t depth) {
  return band.arranged ? band.arranged->row(depth) : lanes.slices_of(trace.row_id(band.lane, band.above + depth));
}

void paint_row(const Trace& trace, const RowSlices& row, const PixelGrid& grid, float y, float height, SliceColours& colours,
               std::vector<VisibleItem>& scratch, std::vector<SliceRect>& out) {
  scratch.clear();
  visible_in_row(row, grid.span(), grid.width(), scratch);
  const std::size_t first = out.size();
  for (const VisibleItem& item : scratch) {
    int x0 = std::max(0, grid.column(item.begin));
    const int x1 = std::min(grid.width(), std::max(x0 + 1, grid.column(item.end)));
    if (out.size() > first) x0 = std::max(x0, out.back().x1);  // a slice keeps its pixel even where the next one begins
    if (x0 < x1) {
      out.push_back({x0, x1, y, height, {}, item.slice, item.count, {item.begin, item.end}});
    } else if (out.size() > first && x0 < grid.width()) {
      fold_into(out.back(), item, trace);
    }
  }
  for (std::size_t i = first; i < out.size(); ++i) out[i].colour = colours.of(out[i].slice);
}

void paint_instants(const Trace& trace, LaneId lane_id, const PixelGrid& grid, std::vector<InstantMark>& out) {
  const Lane& lane = trace.lane(lane_id);
  const std::uint32_t end = lane.first_instant + lane.instant_count;
  const auto time = [&](std::size_t i) { return trace.instants[i].time; };
  std::size_t at = first_where(lane.first_instant, end, [&](std::size_t i) { return grid.column(time(i)) >= 0; });
  while (at != end) {
    const int x = grid.column(time(at));
    if (x >= grid.width()) return;
    const Ns behind = first_behind(grid, x);
    const std::size_t next = first_where(at, end, [&](std::size_t i) { return time(i) >= behind; });
    out.push_back({x, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(next - at)});
    at = next;
  }
}

}  // namespace gapscope
