#include "ui/timeline/timeline_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/view/document.h"
#include "core/view/timeline/first_view.h"
#include "core/view/timeline/grown_view.h"
#include "core/view/timeline/thread_order.h"
#include "ui/panels.h"

namespace gapscope {
namespace {

constexpr float kLeastAxis = 120;
constexpr float kMostTitles = 0.33f;  // of the width
constexpr float kMostPinned = 0.6f;   // of the lanes' height
constexpr float kMostGpus = 0.55f;    // of the lanes' height
constexpr float kMostReplay = 0.5f;   // of the height of lanes and replayed rows

// `replay`: px of the rows above the lanes, from the top of `place.top` on.
TimelineAreas areas_in(const TimelinePlace& place, float replay, const WindowState& window, const Painter& p) {
  const Box top{place.top.x0, place.top.y0 + replay, place.top.x1, place.top.y1};
  const Box rows{top.x0, place.top.y0, top.x1, top.y0};
  const float wanted = std::min(p.px(window.settings.sizes.titles_px), std::round(top.width() * kMostTitles));
  const float x = top.x0 + std::max(p.px(TimelinePanel::kLeastTitles), std::min(wanted, top.width() - p.px(kLeastAxis)));
  const float y1 = place.rest && place.rest->height() >= 1 ? place.rest->y1 : top.y1;
  const auto axis = [x](const Box& box) { return Box{x, box.y0, box.x1, box.y1}; };
  const auto titles = [x](const Box& box) { return Box{box.x0, box.y0, x, box.y1}; };
  const Box lanes{top.x0, top.y0, top.x1, y1};
  Box digits = axis(place.ruler);
  digits.y1 = std::min(digits.y1, digits.y0 + p.px(kTimelineRuler));
  return {axis(place.overview),
          titles(place.overview),
          axis(place.ruler),
          titles(place.ruler),
          axis(rows),
          titles(rows),
          axis(lanes),
          titles(lanes),
          digits};
}

// Overview, ruler and lanes below each other.
TimelinePlace stacked(const Box& box, bool has_notes, const Painter& p) {
  const float y1 = box.y0 + p.px(kTimelineOverview), y2 = y1 + p.px(ruler_height(has_notes));
  return {{box.x0, box.y0, box.x1, y1}, {box.x0, y1, box.x1, y2}, {box.x0, y2, box.x1, box.y1}, std::nullopt, false};
}

}  // namespace

// Everything that was made from the document.
void TimelinePanel::forget() {
  caches_ = {};
  replay_ = {};
  overview_ = {};
  hit_columns_ = {};
  chain_ = {};
  rects_.clear();
  marks_.clear();
  zones_.clear();
  layout_ = {};
  counters_ = nullptr, arrangements_ = nullptr;
  lane_drag_ = {}, findings_ = {};
  layout_revision_ = 0;
  heights_ = {};
  top_scroll_px_ = 0;
  window_.rest = {};  // nothing of this document was in sight
}

// What is at the top edge, unless that is where a fresh view begins.
TimelinePanel::TopEdge TimelinePanel::top_edge(const TraceView& view, const WindowState& window) const {
  const auto scroll = static_cast<float>(view.scroll_px * static_cast<double>(window.frame.scale));
  if (scroll <= 0) return {};
  const float top = scroll + sticky_height();
  const auto [first, last] = layout_.visible(top, top + 1);
  return first < last ? TopEdge{true, layout_.bands()[first]} : TopEdge{};
}

// Scrolls so that it keeps its distance from the edge, whatever has come in above it.
void TimelinePanel::hold(const TopEdge& edge, const Trace& from, const Trace& to, TraceView& view,
                         const WindowState& window) const {
  if (!edge.held) return;
  const Band& top = edge.band;
  const std::string& process = from.processes[top.process.index()].key;
  const LaneId lane = top.lane ? same_lane(from, top.lane, to) : LaneId{};
  for (const Band& band : layout_.bands()) {
    const bool same = top.lane ? band.lane == lane : to.processes[band.process.index()].key == process;
    if (band.kind != top.kind || band.counter != top.counter || !same) continue;
    view.scroll_px += static_cast<double>(band.y - top.y) / static_cast<double>(window.frame.scale);
    return;
  }
}

void TimelinePanel::grow(const Document& from, const Document& to, TraceView& view, const WindowState& window) {
  const TopEdge top = top_edge(view, window);
  grow_view(view, from.trace, to.trace);
  forget();
  caches_.colours = std::make_unique<SliceColours>(to.trace);
  overview_ = busy_strips(to);
  lay_out(to, view, window);
  hold(top, from.trace, to.trace, view, window);
}

void TimelinePanel::adopt(const Document* document, TraceView& view) {
  motion_.stop();
  forget();
  grip_ = OverviewGrip::none;
  dragged_range_.reset();
  area_drag_.stop();
  view.selection = {};
  view.signals.reveal_selection = false;
  view.signals.reveal_with = {};
  view.way_up.clear();
  view.move = {};
  view.scroll_px = 0;
  if (!document) return;
  caches_.colours = std::make_unique<SliceColours>(document->trace);
  overview_ = busy_strips(*document);
  reset_folds(view.folds, document->trace);
  view.time = first_view(document->trace);
}

// They come with the analyses, when the lanes are on the screen already.
void TimelinePanel::take_counters(const Document& document, TraceView& view) {
  if (counters_ == document.counters()) return;
  counters_ = document.counters();
  caches_.counter_columns.clear();
  view.folds.counter_collapsed.assign(counters_->size(), true);  // a line each until more is asked for
  ++view.folds.revision;
  const LaneId thread = thread_that_holds_back(document);
  if (thread) put_thread_first(view.folds, document.trace, thread);
  if (thread && waits_for_python(document)) fold_python(view.folds, thread, false);
}

void TimelinePanel::lay_out(const Document& document, TraceView& view, const WindowState& window) {
  const bool has_more = counters_ != document.counters() || arrangements_ != document.arrangements();
  const TopEdge top = has_more ? top_edge(view, window) : TopEdge{};
  take_counters(document, view);
  arrangements_ = document.arrangements();
  std::vector<ProcessId> counters;
  for (std::size_t i = 0; counters_ && i < counters_->size(); ++i) counters.push_back((*counters_)[i].process);
  const LaneMetrics usual = view.folds.compact ? LaneMetrics{}.compacted() : LaneMetrics{};
  const auto laid = [&](const LaneMetrics& metrics) {
    return LaneLayout(document.trace, view.folds, metrics.scaled(window.frame.scale), counters, arrangements_);
  };
  const float room = place_.rest ? place_.top.height() : areas_.lanes.height() * kMostGpus;
  const bool other_room = laid_room_ != room && room > 0;
  if (has_more || layout_revision_ != view.folds.revision || layout_scale_ != window.frame.scale || other_room) {
    laid_room_ = room;
    LaneLayout low = laid(usual.with_low_streams());
    layout_ = laid(usual);
    least_gpus_ = low.top_height();
    heights_ = {layout_.top_height(), low.top_height(), layout_.gpu_height(), layout_.height() - layout_.gpu_height()};
    if (room > 0 && layout_.top_height() > room) layout_ = std::move(low);
    layout_revision_ = view.folds.revision;
    layout_scale_ = window.frame.scale;
    hold(top, document.trace, document.trace, view, window);
  }
  if (widths_size_ != font_size(Face::mono)) {
    widths_ = glyph_widths(Face::mono);
    widths_size_ = font_size(Face::mono);
  }
  if (chain_.selection != view.selection) chain_ = chain_of(document, view.selection);
}

// The pinned lanes and the GPUs that come first, as far as they leave enough room for what scrolls below them. With another
// trace's GPUs below them all that they have, or it would stand under those.
std::size_t TimelinePanel::sticky_count() const {
  if (place_.rest) return layout_.gpu_count();
  if (layout_.top_height() <= areas_.lanes.height() * kMostGpus) return layout_.top_count();
  return layout_.pinned_height() <= areas_.lanes.height() * kMostPinned ? layout_.pinned_count() : 0;
}

float TimelinePanel::sticky_height() const {
  const std::size_t count = sticky_count();
  return count == 0 ? 0 : layout_.bands()[count - 1].bottom();
}

bool TimelinePanel::is_sticky(const Band& band) const {
  return static_cast<std::size_t>(&band - layout_.bands().data()) < sticky_count();
}

void TimelinePanel::lay_regions(const TraceView& view, const WindowState& window) {
  const auto px = [&](double at_scale_1) { return std::floor(static_cast<float>(at_scale_1) * window.frame.scale); };
  const float sticky = sticky_height();
  const Box &lanes = areas_.lanes, &titles = areas_.titles;
  window_ = {lanes, lanes, sticky, px(top_scroll_px_), px(view.scroll_px)};
  window_.top.y1 = place_.rest ? place_.top.y1 : lanes.y0 + sticky;
  window_.rest.y0 = place_.rest ? place_.rest->y0 : window_.top.y1;
  window_.rest.y1 = place_.rest ? place_.rest->y1 : lanes.y1;
  const auto [first, last] = layout_.visible(sticky + window_.scroll, sticky + window_.scroll + window_.rest.height());
  regions_[0] = {window_.rest, {titles.x0, window_.rest.y0, titles.x1, window_.rest.y1}, first, last};
  regions_[1] = {window_.top, {titles.x0, window_.top.y0, titles.x1, window_.top.y1}, 0, sticky_count()};
}

void TimelinePanel::paint_band(const Document& document, const PixelGrid& grid, const Band& band) {
  const auto [top, bottom] = window_.seen_around(band.y);
  const auto [first, last] = layout_.depths_in(band, top, bottom);
  for (std::uint32_t depth = first; depth < last; ++depth)
    paint_strip(document, grid, row_of(document.trace, document.lanes, band, depth), layout_.strip(band, depth));
  for (std::uint32_t level = 0; band.spans && !band.collapsed && level < band.spans->depth_count(); ++level)
    paint_strip(document, grid, band.spans->row(level), layout_.spans_strip(band, level));
}

void TimelinePanel::paint_strip(const Document& document, const PixelGrid& grid, const RowSlices& row,
                                const LaneLayout::Strip& strip) {
  const Box& part = window_.part_of(strip.y);
  const float y = window_.window_y(strip.y);
  if (y + strip.height <= part.y0 || y >= part.y1) return;
  paint_row(document.trace, row, grid, strip.y, strip.height, *caches_.colours, scratch_, rects_);
}

void TimelinePanel::paint_lanes(const Document& document, const PixelGrid& grid) {
  rects_.clear();
  for (Region& region : regions_) {
    region.first_rect = rects_.size();
    for (std::size_t i = region.first; i < region.last; ++i) {
      if (layout_.bands()[i].kind == BandKind::lane) paint_band(document, grid, layout_.bands()[i]);
    }
    region.last_rect = rects_.size();
  }
}

// Lets `draw` see one region at a time as if it were all of the lanes.
template <class Draw>
void TimelinePanel::each_region(TimelineScene& scene, Draw draw) {
  for (const Region& region : regions_) {
    if (region.first == region.last || region.lanes.height() < 1) continue;
    zones_.clip(region.lanes.y0, region.lanes.y1);
    scene.areas.lanes = region.lanes;
    scene.areas.titles = region.titles;
    scene.first_band = region.first;
    scene.last_band = region.last;
    scene.rects = std::span(rects_).subspan(region.first_rect, region.last_rect - region.first_rect);
    draw(scene);
  }
  scene.areas = areas_;
  zones_.unclip();
}

void TimelinePanel::draw_marks(TimelineScene& scene) {
  // Not asked of the document: what it had no findings of when this frame began may have some by now.
  const bool has_findings = !scene.findings.marks.empty();
  for (std::size_t i = scene.first_band; i < scene.last_band; ++i) {
    const Band& band = layout_.bands()[i];
    if (band.kind != BandKind::lane) continue;
    const std::span<const LaneId> lanes =
        band.streams ? std::span<const LaneId>(band.streams->lanes) : std::span(&band.lane, 1);
    for (const LaneId lane : lanes) {
      marks_.clear();
      paint_instants(scene.document.trace, lane, scene.grid, marks_);
      draw_instants(scene, marks_, band);
      if (has_findings) draw_badges(scene, band, lane);
    }
  }
}

void TimelinePanel::draw_lanes(TimelineScene& scene) {
  Painter& painter = scene.painter;
  window_.each_part([&](const Box& part) {
    painter.fill({areas_.titles.x0, part.y0, part.x0, part.y1}, colour(scene.theme.surface));
    painter.fill(part, colour(scene.theme.background));
  });
  each_region(scene, [&](TimelineScene& part) {
    painter.clip(part.areas.lanes);
    draw_bands(part);
    painter.unclip();
  });
  if (!place_.shares_ruler) draw_ruler(scene);
  draw_ruler_lines(scene);
  each_region(scene, [&](TimelineScene& part) {
    const Box& box = part.areas.lanes;
    zones_.add({ZoneKind::none, box.x0, box.y0, box.x1, box.y1, {}, {}, {}, 0, 0, {}});
    painter.clip(box);
    draw_counters(part);
    draw_gaps(part);
    draw_slices(part);
    draw_busy_shares(part);
    draw_marks(part);
    painter.unclip();
  });
}

// What is over everything else; gives what is under the pointer.
Zone TimelinePanel::draw_overlays(TimelineScene& scene) {
  const auto in_parts = [&](auto draw) {
    window_.each_part([&](const Box& part) {
      scene.painter.clip(part);
      draw();
      scene.painter.unclip();
    });
  };
  draw_path_over_slices(scene);
  in_parts([&] { draw_flows(scene); });
  const bool over_lanes = hovered_ && scene.pointer.y >= areas_.ruler.y1;
  const Zone hovered = over_lanes ? zones_.at(scene.pointer.x, scene.pointer.y) : Zone{};
  in_parts([&] {
    draw_chosen_gap(scene);
    draw_outlines(scene, hovered);
    draw_scroll_mark(scene);
  });
  draw_range(scene);
  draw_area(scene, area_place());
  draw_guide(scene);
  draw_notes(scene, clicked_, offered_notes_);
  draw_note_editor(scene);
  if (!ImGui::IsMouseDown(0) && !ImGui::IsMouseDown(2)) draw_timeline_tooltip(scene, hovered);
  return hovered;
}

void TimelinePanel::draw(const Document& document, TraceView& view, WindowState& window, const Box& box,
                         const TimelineKeys& keys, double delta_s) {
  const Painter painter(*ImGui::GetWindowDrawList(), window.frame.scale);
  move(document, view, window, stacked(box, !view.notes.notes.empty(), painter), keys, delta_s);
  paint(document, view, window, window.frame.elapsed_s);
}

void TimelinePanel::move(const Document& document, TraceView& view, WindowState& window, const TimelinePlace& place,
                         const TimelineKeys& keys, double delta_s) {
  place_ = place;
  replay_ = replay_rows_of(document, view);
  float rows = replay_.height(window.frame.scale);
  if (rows > place.top.height() * kMostReplay) replay_ = {}, rows = 0;  // the lanes come first
  areas_ = areas_in(place, rows, window, Painter(*ImGui::GetWindowDrawList(), window.frame.scale));
  place_.top.y0 += rows;
  if (!has_room()) {
    window_ = {};
    rects_.clear();  // of a larger window
    zones_.clear();
    view.scroll_px = std::max(0.0, view.scroll_px);  // keys still scroll
    return;
  }
  title_splitter(window);
  if (place_.overview.height() >= 1) overview_drag(document, view, window);
  move_by_mouse(document, view, window, keys, delta_s);
  const ImVec2 pointer = ImGui::GetIO().MousePos;
  view.notes.pointer.reset();
  if (hovered_ && pointer.x >= areas_.lanes.x0)
    view.notes.pointer =
        ns_from_px(view.time, static_cast<double>(areas_.lanes.width()), static_cast<double>(pointer.x - areas_.lanes.x0));
  const std::optional<AreaStrip> in_mind = strip_in_mind(document, view, window, window_.pinned);
  lay_out(document, view, window);
  if (in_mind && rest_height() < window_.rest.height()) keep_in_sight(document, view, window, *in_mind);
  if (view.selection) view.gaps.chosen.reset();
  if (view.signals.reveal_selection) reveal(document, view, window);
  if (view.signals.reveal_lane) show_lane(document, view, window);
  clamp_scroll(view, window);
}

void TimelinePanel::paint(const Document& document, TraceView& view, WindowState& window, double elapsed_s,
                          const OverviewBelow* below) {
  if (!has_room()) return;
  Painter painter(*ImGui::GetWindowDrawList(), window.frame.scale);
  lay_regions(view, window);
  const PixelGrid grid(view.time, static_cast<int>(areas_.lanes.width()), axis_zero(view, document.trace.span));
  paint_lanes(document, grid);
  zones_.clear();
  // Asked once a frame: it may arrive at any moment.
  if (const Diagnosis* diagnosis = document.diagnosis())
    gather_lane_findings(document.trace, *diagnosis, window.settings.findings, view.finding.chosen, findings_);
  const Area* area = area_drag_.area() ? area_drag_.area() : marked_area(view);
  const std::optional<Span> range = dragged_range_ ? dragged_range_ : area ? std::optional(area->span) : view.range;
  TimelineScene scene{.document = document,
                      .view = view,
                      .window = window,
                      .theme = theme_of(window),
                      .painter = painter,
                      .areas = areas_,
                      .layout = layout_,
                      .grid = grid,
                      .lane_window = window_,
                      .widths = widths_,
                      .chain = chain_,
                      .rects = rects_,
                      .zones = zones_,
                      .findings = findings_,
                      .caches = caches_,
                      .replay = replay_,
                      .pointer = ImGui::GetIO().MousePos,
                      .pointer_inside = hovered_,
                      .range = range,
                      .area = dragged_range_ ? nullptr : area};
  if (place_.overview.height() >= 1) overview(document, view, window, painter, below);
  draw_lanes(scene);
  each_region(scene, [](TimelineScene& part) { draw_titles(part); });
  draw_replay_rows(scene);
  draw_lane_drop(scene);
  act_on_mouse(document, view, window, draw_overlays(scene));
  if (!place_.shares_ruler) draw_lanes_button(document, view, window, areas_.ruler_titles);
  view.history.watch(place_of(view), {view.move.from.span, view.move.to.span, view.move.active}, elapsed_s);
}

}  // namespace gapscope
