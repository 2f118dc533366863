// What the mouse does over the timeline: clicks, and drags of ranges, areas, lanes and the edge of the titles.
#include <algorithm>
#include <utility>

#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"
#include "ui/panels.h"
#include "ui/timeline/timeline_panel.h"

namespace gapscope {
namespace {

constexpr float kGrip = 6;        // width of the handle between titles and lanes
constexpr float kClickSlack = 4;  // px that the pointer may wander between press and release

}  // namespace

// A title that is dragged takes its lane or process along.
void TimelinePanel::drag_lane(const Document& document, TraceView& view, const WindowState& window, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 from = io.MouseClickedPos[0];
  const bool moved = io.MouseDragMaxDistanceSqr[0] > kClickSlack * kClickSlack * window.frame.scale * window.frame.scale;
  if (active && io.MouseDown[0] && moved && areas_.titles.holds(from)) {
    if (!lane_drag_.active()) {
      const Zone zone = zones_.at(from.x, from.y);
      if (zone.kind == ZoneKind::lane_title) lane_drag_ = {zone.lane, {}};
      if (zone.kind == ZoneKind::process_title) lane_drag_ = {{}, zone.process};
    }
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    return;
  }
  if (lane_drag_.active() && hovered_) {
    if (const std::optional<LaneDrop> at = drop_at(layout_, lane_drag_, window_.lane_y(io.MousePos.y))) {
      drop(view.folds, lane_drag_, *at);
      lay_out(document, view, window);
    }
  }
  lane_drag_ = {};
}

// Where the dragged lane would fall.
void TimelinePanel::draw_lane_drop(TimelineScene& scene) {
  if (!lane_drag_.active()) return;
  const std::optional<LaneDrop> at = drop_at(layout_, lane_drag_, window_.lane_y(scene.pointer.y));
  if (!at) return;
  const float y = window_.window_bottom(at->y);
  const float half = scene.painter.px(1);
  scene.painter.fill({areas_.titles.x0, y - half, areas_.lanes.x1, y + half}, colour(scene.theme.accent));
}

void TimelinePanel::title_splitter(WindowState& window) {
  const float grip = kGrip * window.frame.scale;
  const float y0 = place_.rest ? areas_.lanes.y0 : areas_.ruler.y0;
  ImGui::SetCursorScreenPos({areas_.titles.x1 - grip / 2, y0});
  ImGui::InvisibleButton("titles", {grip, areas_.lanes.y1 - y0});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (!ImGui::IsItemActive()) return;
  window.settings.sizes.titles_px += ImGui::GetIO().MouseDelta.x / window.frame.scale;
  window.settings.sizes.titles_px = std::max(window.settings.sizes.titles_px, kLeastTitles);
}

// A drag that begins in the ruler selects a range when it ends; a click there clears it.
void TimelinePanel::drag_range(TraceView& view, WindowState& window, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  const Box& lanes = areas_.lanes;
  const ImVec2 from = io.MouseClickedPos[0];
  const bool in_ruler = from.y < areas_.ruler.y1 && from.x >= lanes.x0 && !io.KeyShift;
  const bool moved = io.MouseDragMaxDistanceSqr[0] > kClickSlack * kClickSlack * window.frame.scale * window.frame.scale;
  if (active && io.MouseDown[0] && in_ruler && moved) {
    const auto time_at = [&](float x) {
      return ns_from_px(view.time, static_cast<double>(lanes.width()),
                        static_cast<double>(std::clamp(x, lanes.x0, lanes.x1) - lanes.x0));
    };
    const Ns a = time_at(from.x), b = time_at(io.MousePos.x);
    dragged_range_ = Span{std::min(a, b), std::max(a, b)};
    return;
  }
  if (dragged_range_ && !dragged_range_->empty()) {
    view.range = dragged_range_;
    show_area_tab(window);
  }
  dragged_range_.reset();
  if (clicked_ && in_ruler) view.range.reset();
}

AreaPlace TimelinePanel::area_place() const { return {layout_, rects_, window_}; }

// A drag that begins over the lanes marks an area, or moves an edge of the marked one.
void TimelinePanel::drag_area(TraceView& view, WindowState& window, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  const float slack = kClickSlack * window.frame.scale;
  const AreaPlace place = area_place();
  const AreaPointer pointer{io.MouseClickedPos[0],
                            io.MousePos,
                            active && io.MouseDown[0],
                            io.MouseDragMaxDistanceSqr[0] > slack * slack,
                            io.KeyShift && !area_drag_.area(),
                            io.KeyAlt};
  if (area_drag_.advance(place, view, window, pointer)) show_area_tab(window);
  if (!hovered_ && !area_drag_.area()) return;
  const AreaEdge edge = area_drag_.area() ? area_drag_.edge() : area_edge_at(place, view, window, io.MousePos);
  if (edge == AreaEdge::left || edge == AreaEdge::right) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (edge == AreaEdge::top || edge == AreaEdge::bottom) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
}

void TimelinePanel::move_by_mouse(const Document& document, TraceView& view, WindowState& window, const TimelineKeys& keys,
                                  double delta_s) {
  const ImGuiIO& io = ImGui::GetIO();
  const Box& lanes = areas_.lanes;
  bool active = false, let_go = false;
  hovered_ = false;
  const auto listen = [&](const char* id, const Box& box) {
    if (box.width() < 1 || box.height() < 1) return;
    ImGui::SetCursorScreenPos({box.x0, box.y0});
    ImGui::InvisibleButton(id, {box.width(), box.height()},
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle);
    hovered_ |= ImGui::IsItemHovered();
    active |= ImGui::IsItemActive();
    let_go |= ImGui::IsItemDeactivated();
  };
  // The button above the titles is a control of its own.
  const float x0 = areas_.ruler_titles.holds(io.MousePos) ? lanes.x0 : areas_.titles.x0;
  if (!place_.rest) {
    listen("lanes", {x0, areas_.ruler.y0, lanes.x1, lanes.y1});
  } else {
    if (!place_.shares_ruler) listen("ruler", {x0, areas_.ruler.y0, lanes.x1, areas_.ruler.y1});
    listen("lanes", place_.top);
    listen("replay", {areas_.replay_titles.x0, areas_.replay.y0, areas_.replay.x1, areas_.replay.y1});
    listen("rest", *place_.rest);
  }
  const bool still = io.MouseDragMaxDistanceSqr[0] <= kClickSlack * kClickSlack * window.frame.scale * window.frame.scale;
  clicked_ = let_go && hovered_ && still && !io.KeyShift && ImGui::IsMouseReleased(0);
  if (ImGui::IsMouseReleased(0) && std::exchange(zoomed_by_press_, false)) clicked_ = false;
  double_clicked_ = hovered_ && ImGui::IsMouseDoubleClicked(0);
  drag_range(view, window, active);
  drag_lane(document, view, window, active);
  drag_area(view, window, active);

  TimelineMouse mouse;
  mouse.ctrl = io.KeyCtrl;
  mouse.shift = io.KeyShift;
  mouse.alt = io.KeyAlt;
  if (hovered_) {
    mouse.wheel_x = io.MouseWheelH;
    mouse.wheel_y = io.MouseWheel;
    if (io.MousePos.x >= lanes.x0) mouse.anchor = std::clamp((io.MousePos.x - lanes.x0) / lanes.width(), 0.0f, 1.0f);
  }
  if (active && (io.MouseDown[2] || (io.MouseDown[0] && io.KeyShift))) {
    mouse.drag = io.MouseDelta;
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeAll);
  }
  const double scroll = view.scroll_px;
  motion_.advance(document, view, window, keys, mouse, lanes.width(), delta_s);
  const bool over_top = io.MousePos.y >= window_.top.y0 && io.MousePos.y < window_.top.y1;
  if (!place_.rest || !hovered_ || !over_top || window_.pinned <= window_.top.height()) return;
  top_scroll_px_ += view.scroll_px - scroll;  // the top has more lanes than room: it is meant
  view.scroll_px = scroll;
}

void TimelinePanel::click(const Document& document, TraceView& view, WindowState& window, const Zone& zone) {
  switch (zone.kind) {
    case ZoneKind::slice:
    case ZoneKind::run: select_slice(view, zone.slice, false); break;
    case ZoneKind::replayed:
    case ZoneKind::path:
      if (zone.slice) select_slice(view, zone.slice, true);
      break;
    case ZoneKind::flow_end: select_slice(view, zone.slice, true); break;
    case ZoneKind::badge: choose_finding(document, view, window, zone.first, zone.place); break;
    case ZoneKind::gap:
      choose_gap(document, view, window, document.trace.processes[zone.process.index()].device, zone.first, /*go_there=*/false);
      show_panel(window, "details");
      break;
    case ZoneKind::lane_title:
      if (document.trace.lane(zone.lane).depth_count > 0) toggle_lane(view.folds, zone.lane);
      break;
    case ZoneKind::counter_title: toggle_counter(view.folds, zone.first); break;
    case ZoneKind::more_streams: toggle_all_streams(view.folds, zone.process); break;
    case ZoneKind::more_counters: toggle_all_counters(view.folds, zone.process); break;
    case ZoneKind::python: fold_python(view.folds, zone.lane, !is_python_folded(view.folds, zone.lane)); break;
    case ZoneKind::process_title: toggle_process(view.folds, zone.process); break;
    case ZoneKind::pin: set_pinned(view.folds, zone.lane, !view.folds.lane_pinned[zone.lane.index()]); break;
    case ZoneKind::instants:
    case ZoneKind::counter:
    case ZoneKind::none:
      view.selection = {};
      view.gaps.chosen.reset();
      break;
  }
}

void TimelinePanel::act_on_mouse(const Document& document, TraceView& view, WindowState& window, const Zone& zone) {
  if (ImGui::GetIO().MousePos.y < areas_.ruler.y1) return;
  if (clicked_) click(document, view, window, zone);
  if (hovered_ && ImGui::IsMouseReleased(1)) lane_menu_.open(zone);
  if (double_clicked_ && (zone.kind == ZoneKind::slice || zone.kind == ZoneKind::run || zone.kind == ZoneKind::gap ||
                          zone.kind == ZoneKind::replayed || zone.kind == ZoneKind::path)) {
    const Span target = zone.kind == ZoneKind::slice ? document.trace.span_of(zone.slice) : zone.span;
    click(document, view, window, zone);
    go_to(view, window, focused_on(target, axis_reach(view, document.trace.span)));
    zoomed_by_press_ = true;
  }
}

}  // namespace gapscope
