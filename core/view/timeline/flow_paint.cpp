#include "core/view/timeline/flow_paint.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/base/text.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

constexpr float kOutsidePx = 400;  // how far outside the axis an end may lie; enough for a natural slope
constexpr float kMostPullPx = 90;  // how far a curve leaves sideways before it turns
constexpr float kLeastPullPx = 12;
constexpr float kLeastWayPx = 28;  // an arrow goes at least this far to the right where its launch is long enough

Point place(const Trace& trace, SliceId slice, Ns t, const LaneLayout& layout, const TimeView& time, float width_px) {
  const std::optional<LaneLayout::Place> at = layout.place_of(trace, slice);
  const LaneLayout::Strip strip = at ? at->strip : LaneLayout::Strip{};
  const double x = std::clamp(px_from_ns(time, width_px, t), -double{kOutsidePx}, double{width_px} + kOutsidePx);
  return {static_cast<float>(x), strip.y + strip.height / 2};
}

bool inside(float x, float width_px) { return x >= 0 && x < width_px; }

}  // namespace

std::vector<FlowCurve> paint_flows(const Trace& trace, std::span<const Arrow> arrows, const LaneLayout& layout,
                                   const TimeView& time, float width_px) {
  std::vector<FlowCurve> curves;
  for (const Arrow& arrow : arrows) {
    if (!layout.place_of(trace, arrow.from) || !layout.place_of(trace, arrow.to)) continue;
    FlowCurve c;
    c.start = place(trace, arrow.from, trace.end(arrow.from), layout, time, width_px);
    c.end = place(trace, arrow.to, trace.begin(arrow.to), layout, time, width_px);
    // A kernel often starts before its launch returns; an arrow that ran backwards would read wrong.
    const Point earliest = place(trace, arrow.from, trace.begin(arrow.from), layout, time, width_px);
    c.start.x = std::max(earliest.x, std::min(c.start.x, c.end.x - kLeastWayPx));
    if ((c.start.x < 0 && c.end.x < 0) || (c.start.x >= width_px && c.end.x >= width_px)) continue;
    const float pull = std::clamp(std::abs(c.end.x - c.start.x) * 0.5f, kLeastPullPx, kMostPullPx);
    c.start_pull = {c.start.x + pull, c.start.y};
    c.end_pull = {c.end.x - pull, c.end.y};
    c.from = arrow.from;
    c.to = arrow.to;
    c.category = arrow.category;
    c.start_visible = inside(c.start.x, width_px);
    c.end_visible = inside(c.end.x, width_px);
    curves.push_back(c);
  }
  return curves;
}

namespace {

std::vector<ArrowGroup> groups_of(FlowShow show) {
  if (show == FlowShow::launches) return {ArrowGroup::launches};
  if (show == FlowShow::forward_backward) return {ArrowGroup::forward_backward};
  if (show == FlowShow::all) return {ArrowGroup::launches, ArrowGroup::forward_backward, ArrowGroup::other};
  return {};
}

}  // namespace

void update_scene_arrows(const ArrowIndex& index, FlowShow show, Span visible, SceneArrows& last) {
  const std::vector<ArrowGroup> groups = groups_of(show);
  last.in_sight = 0;
  for (const ArrowGroup group : groups) last.in_sight += index.starting_in(group, visible);
  const ArrowBuckets buckets = arrow_buckets(visible);
  if (last.show == show && last.buckets == buckets) return;
  last.show = show;
  last.buckets = buckets;
  last.arrows.clear();
  for (const ArrowGroup group : groups) index.choose(group, visible, kArrowsABucket / groups.size(), last.arrows);
}

SceneArrows scene_arrows(const ArrowIndex& index, FlowShow show, Span visible) {
  SceneArrows scene;
  update_scene_arrows(index, show, visible, scene);
  return scene;
}

void thin_curves(const Trace& trace, const PixelGrid& grid, std::vector<FlowCurve>& curves) {
  const auto place = [&](const FlowCurve& c) {
    return std::tuple(grid.column(trace.begin(c.from)), trace.slices.row[c.from.index()].value, grid.column(trace.begin(c.to)),
                      trace.slices.row[c.to.index()].value);
  };
  const auto key = [&](const FlowCurve& c) { return std::tuple(place(c), c.from.value, c.to.value); };
  std::sort(curves.begin(), curves.end(), [&](const FlowCurve& a, const FlowCurve& b) { return key(a) < key(b); });
  const auto same = [&](const FlowCurve& a, const FlowCurve& b) { return place(a) == place(b); };
  curves.erase(std::unique(curves.begin(), curves.end(), same), curves.end());
}

std::string latency_text(const Document& document, SliceId from, SliceId to) {
  if (!from || !to || document.links.call_of(to) != from) return {};
  return format_duration(document.trace.begin(to) - document.trace.begin(from));
}

}  // namespace gapscope
