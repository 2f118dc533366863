// How the timeline is scrolled: within its lanes, and to what panels want to be seen.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/view/document.h"
#include "core/view/selection/area_model.h"
#include "ui/panels.h"
#include "ui/timeline/timeline_panel.h"

namespace gapscope {
namespace {

constexpr double kRevealRoom = 40;  // px left above and below a revealed slice

}  // namespace

// Px for the lanes below those that stay in sight.
float TimelinePanel::rest_height() const {
  return place_.rest ? place_.rest->height() : areas_.lanes.height() - sticky_height();
}

void TimelinePanel::clamp_scroll(TraceView& view, const WindowState& window) {
  const auto held = [&](double px, float hidden) {
    return std::clamp(px, 0.0, std::max(0.0, static_cast<double>(hidden) / static_cast<double>(window.frame.scale)));
  };
  view.scroll_px = held(view.scroll_px, layout_.height() - sticky_height() - rest_height());
  top_scroll_px_ = held(top_scroll_px_, place_.rest ? sticky_height() - place_.top.height() : 0);
}

void TimelinePanel::scroll_to_selection(const Document& document, TraceView& view, const WindowState& window) {
  scroll_to(document, view, window, view.selection);
}

void TimelinePanel::scroll_to(const Document& document, TraceView& view, const WindowState& window, SliceId slice) {
  const Trace& trace = document.trace;
  unfold_lane(view.folds, trace, trace.lane_id(slice));
  lay_out(document, view, window);
  if (!layout_.place_of(trace, slice)) {  // a Python frame that is folded away
    toggle_python(view.folds);
    lay_out(document, view, window);
  }
  const std::optional<LaneLayout::Place> place = layout_.place_of(trace, slice);
  if (!place) return;
  const LaneLayout::Strip strip = place->strip;
  const auto scale = static_cast<double>(window.frame.scale);
  const bool sticky = is_sticky(*place->band);
  const float before = sticky ? 0 : sticky_height(), room = sticky ? place_.top.height() : rest_height();
  const double top = static_cast<double>(strip.y - before) / scale - kRevealRoom;
  const double bottom = static_cast<double>(strip.y + strip.height - before - room) / scale + kRevealRoom;
  double& scroll = sticky ? top_scroll_px_ : view.scroll_px;
  scroll = std::max(bottom, std::min(scroll, top));
}

void TimelinePanel::reveal(const Document& document, TraceView& view, const WindowState& window) {
  view.signals.reveal_selection = false;
  const SliceId with = std::exchange(view.signals.reveal_with, SliceId{});
  if (!view.selection.valid()) return;
  const Trace& trace = document.trace;
  // A frame that is left out comes into sight with those of its thread, one around the steps with all.
  const LaneId lane = trace.lane_id(view.selection);
  for (const bool all : {false, true}) {
    const bool is_out = layout_.band_of(lane) && !layout_.place_of(trace, view.selection);
    if (!is_out || trace.kind(view.selection) != Kind::python || !view.folds.python_folded) break;
    if (all)
      toggle_python(view.folds);
    else
      fold_python(view.folds, lane, false);
    lay_out(document, view, window);
  }
  const Span reach = axis_reach(view, trace.span);
  const Span slice = trace.span_of(view.selection);
  const TimeView& now = view.move.active ? view.move.to : view.time;
  const Span other = trace.span_of(with ? with : view.selection);
  const Span both = hull(slice, other);
  const bool fits = with && static_cast<double>(both.length()) <= visible_ns(now);
  go_to(view, window, revealed(now, fits ? both : slice, reach));
  if (with) scroll_to(document, view, window, with);
  scroll_to_selection(document, view, window);  // last: where not both fit, it wins
}

void TimelinePanel::show_lane(const Document& document, TraceView& view, const WindowState& window) {
  const LaneId lane = std::exchange(view.signals.reveal_lane, LaneId{});
  unfold_lane(view.folds, document.trace, lane);
  lay_out(document, view, window);
  const Band* band = layout_.band_of(lane);
  if (!band || is_sticky(*band)) return;
  const auto scale = static_cast<double>(window.frame.scale);
  const double top = static_cast<double>(band->y - sticky_height()) / scale;
  const double bottom = static_cast<double>(band->bottom() - sticky_height() - rest_height()) / scale;
  view.scroll_px = std::max(std::min(bottom, top), std::min(view.scroll_px, top));
}

// The marked lanes, or the selection, of what scrolls below `pinned`, from there. None where all of it stays in sight anyway.
std::optional<AreaStrip> TimelinePanel::strip_in_mind(const Document& document, const TraceView& view,
                                                      const WindowState& window, float pinned) const {
  AreaStrip strip;
  const Area* area = marked_area(view);
  if (area && (!view.selection || is_panel_shown(window, "selection"))) {
    std::vector<LaneId> scrolled = area->lanes;
    std::erase_if(scrolled, [&](LaneId lane) {
      const Band* band = layout_.band_of(lane);
      return band && band->y < pinned;
    });
    strip = strip_of(layout_, scrolled);
  } else if (const auto place = view.selection ? layout_.place_of(document.trace, view.selection) : std::nullopt) {
    strip = {place->strip.y, place->strip.y + place->strip.height};
  }
  if (strip.y0 < pinned || strip.y1 <= strip.y0) return std::nullopt;
  return AreaStrip{strip.y0 - pinned, strip.y1 - pinned};
}

// What of it was in sight stays there when a panel takes some of the lanes' height, and all of it comes into sight where there
// is room. `before`: where it was in the last frame.
void TimelinePanel::keep_in_sight(const Document& document, TraceView& view, const WindowState& window,
                                  const AreaStrip& before) {
  const float above = std::max(0.0f, window_.scroll - before.y0);
  const std::optional<AreaStrip> now = strip_in_mind(document, view, window, sticky_height());
  if (!now || above >= before.y1 - before.y0 || before.y0 >= window_.scroll + window_.rest.height()) return;
  const float top = now->y0 + above, bottom = now->y1 - rest_height();
  view.scroll_px = std::max(view.scroll_px, static_cast<double>(std::min(top, bottom) / window.frame.scale));
}

TimelinePanel::Heights TimelinePanel::measure(const Document& document, TraceView& view, const WindowState& window) {
  lay_out(document, view, window);
  const float replay = replay_rows_of(document, view).height(window.frame.scale);
  return {heights_.top + replay, heights_.least_top + replay, heights_.whole + replay, heights_.rest};
}

}  // namespace gapscope
