#include "core/view/selection/area_model.h"

#include <algorithm>
#include <cmath>

#include "core/view/document.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {
namespace {

constexpr int kLeastSnapPx = 3;  // a narrower slice has both edges under the pointer

}  // namespace

void mark_area(TraceView& view, Area area) {
  if (area.span.empty()) return;
  view.range = area.span;
  if (area.lanes.empty())
    view.area.area.reset();
  else
    view.area.area = std::move(area);
}

void clear_area(TraceView& view) {
  view.range.reset();
  view.area.area.reset();
}

const Area* marked_area(const TraceView& view) {
  return view.area.area && view.range == view.area.area->span ? &*view.area.area : nullptr;
}

std::optional<Area> shown_area(const Trace& trace, const TraceView& view) {
  if (const Area* area = marked_area(view)) return *area;
  if (view.range) return area_of_all_lanes(trace, *view.range);
  return std::nullopt;
}

void mark_selection(const Trace& trace, TraceView& view) {
  if (!view.selection) return;
  Span span = trace.span_of(view.selection);
  span.end = std::max(span.end, span.begin + 1);
  mark_area(view, {span, {trace.lane_id(view.selection)}});
}

void mark_everything(const Trace& trace, TraceView& view) {
  const Area whole = whole_area(trace);
  if (!view.selection) return mark_area(view, whole);
  mark_area(view, {intersect(view.time.span, whole.span), {trace.lane_id(view.selection)}});
}

std::vector<LaneId> lanes_between(const LaneLayout& layout, float y0, float y1) {
  std::vector<LaneId> lanes;
  const auto [first, last] = layout.visible(std::min(y0, y1), std::max(y0, y1) + 1);
  for (std::size_t i = first; i < last; ++i) {
    const Band& band = layout.bands()[i];
    if (band.kind == BandKind::lane) lanes.push_back(band.lane);
    if (band.streams) lanes.insert(lanes.end(), band.streams->lanes.begin(), band.streams->lanes.end());
  }
  std::sort(lanes.begin(), lanes.end());
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  return lanes;
}

AreaStrip strip_of(const LaneLayout& layout, const std::vector<LaneId>& lanes) {
  AreaStrip strip;
  bool any = false;
  for (const LaneId lane : lanes) {
    const Band* band = layout.band_of(lane);
    if (!band) continue;
    strip.y0 = any ? std::min(strip.y0, band->y) : band->y;
    strip.y1 = any ? std::max(strip.y1, band->bottom()) : band->bottom();
    any = true;
  }
  return strip;
}

Ns snapped(Ns t, const TimeView& time, double width_px, const std::vector<SliceRect>& rects, float y0, float y1,
           double slack_px) {
  const double at = px_from_ns(time, width_px, t);
  double best = slack_px;
  Ns to = t;
  for (const SliceRect& rect : rects) {
    if (rect.count > 1 || rect.width() < kLeastSnapPx || rect.y >= std::max(y0, y1) || rect.y + rect.height <= std::min(y0, y1))
      continue;
    for (const Ns edge : {rect.span.begin, rect.span.end}) {
      const double away = std::abs(px_from_ns(time, width_px, edge) - at);
      if (away >= best) continue;
      best = away;
      to = edge;
    }
  }
  return to;
}

std::shared_ptr<const AreaStats> answer(const Document& document, const AreaQuestion& question,
                                        const std::atomic<bool>* cancel) {
  std::optional<AreaStats> stats = area_stats(document.trace, document.lanes, question.area, cancel);
  return stats ? std::make_shared<const AreaStats>(std::move(*stats)) : nullptr;
}

void arrange_area(const Trace& trace, const std::shared_ptr<const AreaStats>& answer, AreaState& state) {
  ArrangedRows& made = state.arranged;
  const auto table = static_cast<std::size_t>(state.table);
  if (made.of != answer || made.list != table) state.selected.reset();
  if (made.is_other(answer, table, state.look)) made.rows = arrange(area_rows({trace, *answer, state.table}), state.look);
}

std::vector<SliceId> slices_of_row(const Document& document, const Area& area, AreaTable table, const AreaRow& row) {
  const Trace& trace = document.trace;
  std::vector<SliceId> slices;
  const bool of_annotations = table == AreaTable::annotation;
  if (table == AreaTable::name || of_annotations) {
    for (const SliceId s : document.names.slices_named(StringId(row.key)))
      if (slices.size() < kMostWalked && is_annotation(trace.kind(s)) == of_annotations &&
          touches(trace.span_of(s), area.span) && area.has(trace.lane_id(s)))
        slices.push_back(s);
    sort_by_begin(trace, slices);
    return slices;
  }
  for (const LaneId id : area.lanes) {
    if (table == AreaTable::lane && id.value != row.key) continue;
    const Lane& lane = trace.lane(id);
    for (std::uint32_t d = 0; d < lane.depth_count; ++d) {
      const auto [first, last] = slices_touching(trace, trace.rows[lane.first_row + d], area.span);
      for (std::uint32_t s = first; s < last && slices.size() < kMostWalked; ++s)
        if (!is_annotation(trace.kind(SliceId(s))) && (table == AreaTable::lane || trace.slices.category[s] == row.key))
          slices.push_back(SliceId(s));
    }
  }
  sort_by_begin(trace, slices);
  return slices;
}

}  // namespace gapscope
