#pragma once
// Marking an area by a drag over the lanes, and changing one by its edges. Edges in time snap to the slices drawn between
// the top and the bottom of the area, unless Alt is held.
#include <optional>
#include <vector>

#include <imgui.h>
#include "core/view/selection/area_model.h"
#include "ui/timeline/lane_window.h"
#include "ui/timeline/painter.h"

namespace gapscope {

struct AreaPointer {
  ImVec2 pressed{}, now{};  // px of the window
  bool held = false;        // the left button went down over the timeline and still is
  bool moved = false;       // farther than a click may
  bool shift = false;       // pans instead
  bool free = false;        // does not snap
};

// Where the lanes are on the screen.
struct AreaPlace {
  const LaneLayout& layout;
  const std::vector<SliceRect>& rects;  // of the last frame
  LaneWindow window;
};

enum class AreaEdge : unsigned char { none, left, right, top, bottom };
// The marked area on the screen; empty where its lanes are hidden.
Box area_box(const AreaPlace& place, const TraceView& view, const Area& area);
AreaEdge area_edge_at(const AreaPlace& place, const TraceView& view, const WindowState& window, ImVec2 at);

class AreaDrag {
 public:
  // One frame. True in the frame that ends a drag with another area.
  bool advance(const AreaPlace& place, TraceView& view, const WindowState& window, const AreaPointer& pointer);
  // As it would be if the drag ended now; null while nothing is dragged, and where that crosses no lane.
  const Area* area() const { return area_ && !area_->lanes.empty() ? &*area_ : nullptr; }
  AreaEdge edge() const { return edge_; }
  void stop();

 private:
  void begin(const AreaPlace& place, const TraceView& view, const WindowState& window, const AreaPointer& pointer);
  void move(const AreaPlace& place, const TraceView& view, const WindowState& window, const AreaPointer& pointer);

  bool under_way_ = false;
  bool foreign_ = false;  // the press was elsewhere: the ruler, the titles
  AreaEdge edge_ = AreaEdge::none;
  Ns time_ = 0;  // of the end that stays
  float y_ = 0;  // of the side that stays, from the top of the lanes
  std::optional<Area> area_;
};

}  // namespace gapscope
