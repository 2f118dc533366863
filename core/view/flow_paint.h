#pragma once
// Arrows of a chain as curves in px of the lane area (x from the left edge of the axis, y from the top of all lanes).
#include <vector>

#include "core/view/chain.h"
#include "core/view/lane_layout.h"
#include "core/view/time_view.h"

namespace gapscope {

struct Point {
  float x = 0, y = 0;
};

// A cubic curve from the end of the launch (or flow start) to the begin of what it leads to.
struct FlowCurve {
  Point start, start_pull, end_pull, end;
  SliceId from, to;
  StringId category;
  bool start_visible = false;  // inside the axis sideways
  bool end_visible = false;
};

// Curves whose both ends lie off the same side are left out. Ends far outside are brought to just outside the axis.
std::vector<FlowCurve> paint_flows(const Trace& trace, const Chain& chain, const LaneLayout& layout,
                                   const TimeView& time, float width_px);

}  // namespace gapscope
