#pragma once
// The marked area: how a drag becomes one, what it means, and its tables arranged for the tab "Selection".
#include <optional>
#include <string>
#include <vector>

#include "core/view/timeline/lane_layout.h"
#include "core/view/timeline/lane_paint.h"
#include "core/view/view_state.h"

namespace gapscope {

struct Document;

// Marks an area; the tables are restricted to its time. Nothing for one without time.
void mark_area(TraceView& view, Area area);
void clear_area(TraceView& view);
// The area that is marked on lanes, if its time still is the selected one.
const Area* marked_area(const TraceView& view);
// That, or all lanes in the time selected in the ruler, or nothing.
std::optional<Area> shown_area(const Trace& trace, const TraceView& view);
// The selected slice: its time, its lane. A slice without length gets one nanosecond.
void mark_selection(const Trace& trace, TraceView& view);
// What is visible of the selection's lane; without a selection the whole trace.
void mark_everything(const Trace& trace, TraceView& view);

// The lanes that a drag from y0 to y1 (px from the top of the lanes) touches.
std::vector<LaneId> lanes_between(const LaneLayout& layout, float y0, float y1);
// From the top of the topmost lane to the bottom of the lowest.
struct AreaStrip {
  float y0 = 0, y1 = 0;
};
AreaStrip strip_of(const LaneLayout& layout, const std::vector<LaneId>& lanes);

// The nearest begin or end of a drawn slice between y0 and y1, if one is within `slack_px` of `t`; else `t`. Only slices
// wide enough to be distinguished from their neighbours count.
Ns snapped(Ns t, const TimeView& time, double width_px, const std::vector<SliceRect>& rects, float y0, float y1,
           double slack_px);

// Brings `arranged` up to date. `answer` is not null.
void arrange_area(const Trace& trace, const std::shared_ptr<const AreaStats>& answer, AreaState& state);
// The slices that a row counts, in order of begin; of more than kMostWalked only that many.
constexpr std::size_t kMostWalked = 100'000;
std::vector<SliceId> slices_of_row(const Document& document, const Area& area, AreaTable table, const AreaRow& row);

}  // namespace gapscope
