#include "ui/timeline/area_drag.h"

#include <algorithm>
#include <cmath>

#include "core/view/timeline/time_view.h"

namespace gapscope {
namespace {

constexpr float kEdgeSlack = 4;   // px at scale 1 around an edge in which it can be taken hold of
constexpr double kSnapSlack = 6;  // px at scale 1

float x_of(const AreaPlace& place, const TraceView& view, Ns t) {
  const Box lanes = place.window.hull();
  return lanes.x0 + static_cast<float>(px_from_ns(view.time, static_cast<double>(lanes.width()), t));
}

Ns time_at(const AreaPlace& place, const TraceView& view, float x) {
  const Box lanes = place.window.hull();
  return ns_from_px(view.time, static_cast<double>(lanes.width()),
                    static_cast<double>(std::clamp(x, lanes.x0, lanes.x1) - lanes.x0));
}

float y_at(const AreaPlace& place, float y) {
  const Box lanes = place.window.hull();
  return place.window.lane_y(std::clamp(y, lanes.y0, lanes.y1 - 1));
}

// What has scrolled under the pinned lanes ends there.
float seen(const AreaPlace& place, float lane_y, float y) {
  return place.window.is_top(lane_y) ? y : std::max(y, place.window.rest.y0);
}

bool is_near(float a, float b, float slack) { return std::abs(a - b) <= slack; }

Span between(Ns a, Ns b) { return {std::min(a, b), std::max(a, b)}; }

}  // namespace

Box area_box(const AreaPlace& place, const TraceView& view, const Area& area) {
  const AreaStrip strip = strip_of(place.layout, area.lanes);
  const float y1 = place.window.window_bottom(strip.y1);
  return {x_of(place, view, area.span.begin), seen(place, strip.y0, place.window.window_y(strip.y0)),
          x_of(place, view, area.span.end), strip.y1 <= place.window.pinned ? y1 : std::max(y1, place.window.rest.y0)};
}

AreaEdge area_edge_at(const AreaPlace& place, const TraceView& view, const WindowState& window, ImVec2 at) {
  const Area* area = marked_area(view);
  if (!area || !place.window.holds(at)) return AreaEdge::none;
  const Box box = area_box(place, view, *area);
  const float slack = kEdgeSlack * window.frame.scale;
  const bool is_at_height = at.y >= box.y0 && at.y < box.y1, below = at.x >= box.x0 && at.x < box.x1;
  // Of an area as narrow as a line the right edge is the one at hand.
  if (is_at_height && is_near(at.x, box.x1, slack)) return AreaEdge::right;
  if (is_at_height && is_near(at.x, box.x0, slack)) return AreaEdge::left;
  if (below && is_near(at.y, box.y0, slack)) return AreaEdge::top;
  if (below && is_near(at.y, box.y1, slack)) return AreaEdge::bottom;
  return AreaEdge::none;
}

void AreaDrag::stop() {
  under_way_ = foreign_ = false;
  edge_ = AreaEdge::none;
  area_.reset();
}

void AreaDrag::begin(const AreaPlace& place, const TraceView& view, const WindowState& window, const AreaPointer& pointer) {
  under_way_ = true;
  foreign_ = !place.window.holds(pointer.pressed);
  if (foreign_) return;
  edge_ = area_edge_at(place, view, window, pointer.pressed);
  time_ = time_at(place, view, pointer.pressed.x);
  y_ = y_at(place, pointer.pressed.y);
  if (edge_ == AreaEdge::none) return;
  area_ = *marked_area(view);
  const AreaStrip strip = strip_of(place.layout, area_->lanes);
  time_ = edge_ == AreaEdge::left ? area_->span.end : area_->span.begin;
  y_ = edge_ == AreaEdge::top ? strip.y1 - 1 : strip.y0;
}

void AreaDrag::move(const AreaPlace& place, const TraceView& view, const WindowState& window, const AreaPointer& pointer) {
  const bool in_time = edge_ == AreaEdge::none || edge_ == AreaEdge::left || edge_ == AreaEdge::right;
  const bool in_lanes = edge_ == AreaEdge::none || edge_ == AreaEdge::top || edge_ == AreaEdge::bottom;
  if (!area_) area_.emplace();
  const float y = y_at(place, pointer.now.y);
  if (in_lanes) area_->lanes = lanes_between(place.layout, y_, y);
  if (!in_time) return;
  const Ns t = time_at(place, view, pointer.now.x);
  const AreaStrip strip = in_lanes ? AreaStrip{std::min(y_, y), std::max(y_, y) + 1} : strip_of(place.layout, area_->lanes);
  const auto snap = [&](Ns at) {
    return snapped(at, view.time, static_cast<double>(place.window.top.width()), place.rects, strip.y0, strip.y1,
                   kSnapSlack * static_cast<double>(window.frame.scale));
  };
  area_->span = pointer.free ? between(time_, t) : between(edge_ == AreaEdge::none ? snap(time_) : time_, snap(t));
  if (area_->span.empty()) area_->span = between(time_, t);
}

bool AreaDrag::advance(const AreaPlace& place, TraceView& view, const WindowState& window, const AreaPointer& pointer) {
  if (pointer.held && pointer.moved && !pointer.shift) {
    if (!under_way_) begin(place, view, window, pointer);
    if (!foreign_) move(place, view, window, pointer);
    return false;
  }
  const std::optional<Area> made = std::move(area_);
  stop();
  if (!made || made->span.empty() || made->lanes.empty()) return false;
  mark_area(view, *made);
  return true;
}

}  // namespace gapscope
