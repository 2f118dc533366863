#include "ui/timeline/timeline_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/view/timeline/grown_view.h"
#include "ui/panels.h"

namespace gapscope {
namespace {

constexpr float kOverviewHeight = 48;
constexpr float kRulerHeight = 26;
constexpr float kLeastAxis = 120;
constexpr float kMostTitles = 0.33f;  // of the width
constexpr float kLeastSeen = 4;     // a slice narrower than this is zoomed to, not just brought into view
constexpr double kRevealRoom = 40;  // px kept above and below a revealed slice
constexpr float kMostPinned = 0.6f;  // of the lanes' height
constexpr float kMostGpus = 0.55f;   // of the lanes' height

TimelineAreas areas_in(const Box& box, const ViewState& view, const Painter& p, bool with_overview) {
  const float wanted = std::min(p.px(view.sizes.titles_px), std::round(box.width() * kMostTitles));
  const float x = box.x0 + std::max(p.px(TimelinePanel::kLeastTitles), std::min(wanted, box.width() - p.px(kLeastAxis)));
  const float y1 = box.y0 + (with_overview ? p.px(kOverviewHeight) : 0);
  const float y2 = y1 + p.px(kRulerHeight);
  return {{x, box.y0, box.x1, y1}, {box.x0, box.y0, x, y1}, {x, y1, box.x1, y2},
          {box.x0, y1, x, y2},     {x, y2, box.x1, box.y1}, {box.x0, y2, x, box.y1}};
}

}  // namespace

// Everything that was made from the document.
void TimelinePanel::forget() {
  colours_.reset();
  scene_arrows_ = {};
  gap_words_.clear();
  counter_columns_.clear();
  overview_ = {};
  hit_columns_ = {};
  chain_ = {};
  rects_.clear();
  marks_.clear();
  zones_.clear();
  layout_ = {};
  counters_ = nullptr;
  arrangements_ = nullptr;
  lane_drag_ = {};
  findings_ = {};
  layout_revision_ = 0;
}

// What lies at the top edge, unless that is where a fresh view begins.
TimelinePanel::TopEdge TimelinePanel::top_edge(const ViewState& view) const {
  const auto scroll = static_cast<float>(view.scroll_px * static_cast<double>(view.scale));
  if (scroll <= 0) return {};
  const float top = scroll + sticky_height();
  const auto [first, last] = layout_.visible(top, top + 1);
  return first < last ? TopEdge{true, layout_.bands()[first]} : TopEdge{};
}

// Scrolls so that it keeps its distance from the edge, whatever has come in above it.
void TimelinePanel::hold(const TopEdge& edge, const Trace& from, const Trace& to, ViewState& view) const {
  if (!edge.held) return;
  const Band& top = edge.band;
  const std::string& process = from.processes[top.process.index()].key;
  const LaneId lane = top.lane ? same_lane(from, top.lane, to) : LaneId{};
  for (const Band& band : layout_.bands()) {
    const bool same = top.lane ? band.lane == lane : to.processes[band.process.index()].key == process;
    if (band.kind != top.kind || band.counter != top.counter || !same) continue;
    view.scroll_px += static_cast<double>(band.y - top.y) / static_cast<double>(view.scale);
    return;
  }
}

void TimelinePanel::grow(const Document& from, const Document& to, ViewState& view) {
  const TopEdge top = top_edge(view);
  grow_view(view, from.trace, to.trace);
  forget();
  colours_ = std::make_unique<SliceColours>(to.trace);
  overview_ = make_overview(to);
  lay_out(to, view);
  hold(top, from.trace, to.trace, view);
}

void TimelinePanel::adopt(const Document* document, ViewState& view) {
  motion_.stop();
  forget();
  grip_ = OverviewGrip::none;
  dragged_range_.reset();
  area_drag_.stop();
  view.selection = {};
  view.reveal_selection = false;
  view.reveal_with = {};
  view.way_up.clear();
  view.move = {};
  view.scroll_px = 0;
  if (!document) return;
  colours_ = std::make_unique<SliceColours>(document->trace);
  overview_ = make_overview(*document);
  reset_folds(view.folds, document->trace);
  view.time = fit(document->trace.span);
}

// They come with the analyses, when the lanes are on the screen already.
void TimelinePanel::take_counters(const Document& document, ViewState& view) {
  if (counters_ == document.counters()) return;
  counters_ = document.counters();
  counter_columns_.clear();
  view.folds.counter_collapsed.assign(counters_->size(), true);  // a line each until somebody asks for more
  ++view.folds.revision;
}

void TimelinePanel::lay_out(const Document& document, ViewState& view) {
  const bool has_more = counters_ != document.counters() || arrangements_ != document.arrangements();
  const TopEdge top = has_more ? top_edge(view) : TopEdge{};
  take_counters(document, view);
  arrangements_ = document.arrangements();
  std::vector<ProcessId> counters;
  for (std::size_t i = 0; counters_ && i < counters_->size(); ++i) counters.push_back((*counters_)[i].process);
  const LaneMetrics usual = view.folds.compact ? LaneMetrics{}.compacted() : LaneMetrics{};
  const auto laid = [&](const LaneMetrics& metrics) { return LaneLayout(document.trace, view.folds, metrics.scaled(view.scale), counters, arrangements_); };
  const bool other_height = laid_height_ != areas_.lanes.height() && areas_.lanes.height() > 0;
  if (has_more || layout_revision_ != view.folds.revision || layout_scale_ != view.scale || other_height) {
    laid_height_ = areas_.lanes.height();
    LaneLayout low = laid(usual.with_low_streams());
    least_height_ = std::round(kRulerHeight * view.scale) + low.top_height();
    layout_ = laid(usual);
    if (laid_height_ > 0 && layout_.top_height() > laid_height_ * kMostGpus) layout_ = std::move(low);
    layout_revision_ = view.folds.revision;
    layout_scale_ = view.scale;
    hold(top, document.trace, document.trace, view);
  }
  if (widths_size_ != font_size(Face::mono)) {
    widths_ = glyph_widths(Face::mono);
    widths_size_ = font_size(Face::mono);
  }
  if (chain_.selection != view.selection) chain_ = chain_of(document, view.selection);
}

void TimelinePanel::clamp_scroll(ViewState& view) const {
  const double hidden = static_cast<double>(layout_.height() - areas_.lanes.height());
  view.scroll_px = std::clamp(view.scroll_px, 0.0, std::max(0.0, hidden / static_cast<double>(view.scale)));
}

void TimelinePanel::scroll_to_selection(const Document& document, ViewState& view) { scroll_to(document, view, view.selection); }

void TimelinePanel::scroll_to(const Document& document, ViewState& view, SliceId slice) {
  const Trace& trace = document.trace;
  unfold_lane(view.folds, trace, trace.lane_id(slice));
  lay_out(document, view);
  if (!layout_.place_of(trace, slice)) {  // a Python frame that is folded away
    toggle_python(view.folds);
    lay_out(document, view);
  }
  const std::optional<LaneLayout::Place> place = layout_.place_of(trace, slice);
  if (!place || is_sticky(*place->band)) return;
  const LaneLayout::Strip strip = place->strip;
  const auto scale = static_cast<double>(view.scale);
  const double top = static_cast<double>(strip.y - sticky_height()) / scale - kRevealRoom;
  const double bottom = static_cast<double>(strip.y + strip.height - areas_.lanes.height()) / scale + kRevealRoom;
  view.scroll_px = std::max(bottom, std::min(view.scroll_px, top));
}

void TimelinePanel::reveal(const Document& document, ViewState& view) {
  view.reveal_selection = false;
  const SliceId with = std::exchange(view.reveal_with, SliceId{});
  if (!view.selection.valid()) return;
  const Trace& trace = document.trace;
  const Span reach = axis_reach(view, trace.span);
  const Span slice = trace.span_of(view.selection);
  const TimeView& now = view.move.active ? view.move.to : view.time;
  const double px = static_cast<double>(slice.length()) / visible_ns(now) * static_cast<double>(areas_.lanes.width());
  const Span other = trace.span_of(with ? with : view.selection);
  const Span both = hull(slice, other);
  if (with && static_cast<double>(both.length()) <= visible_ns(now))
    go_to(view, revealed(now, both, reach));
  else
    go_to(view, px < static_cast<double>(kLeastSeen) ? focused_on(slice, reach) : revealed(now, slice, reach));
  if (with) scroll_to(document, view, with);
  scroll_to_selection(document, view);  // last: where not both fit, it wins
}

void TimelinePanel::show_lane(const Document& document, ViewState& view) {
  const LaneId lane = std::exchange(view.reveal_lane, LaneId{});
  unfold_lane(view.folds, document.trace, lane);
  lay_out(document, view);
  const Band* band = layout_.band_of(lane);
  if (!band || is_sticky(*band)) return;
  const auto scale = static_cast<double>(view.scale);
  const double top = static_cast<double>(band->y - sticky_height()) / scale;
  const double bottom = static_cast<double>(band->bottom() - areas_.lanes.height()) / scale;
  view.scroll_px = std::max(std::min(bottom, top), std::min(view.scroll_px, top));
}

// From the window's y to the lanes'.
float TimelinePanel::layout_y(float window_y) const {
  const float y = window_y - areas_.lanes.y0;
  return y < sticky_height() ? y : y + regions_[0].scroll;
}

// Where the dragged lane would fall.
void TimelinePanel::draw_lane_drop(TimelineScene& scene) {
  if (!lane_drag_.active()) return;
  const std::optional<LaneDrop> at = drop_at(layout_, lane_drag_, layout_y(scene.pointer.y));
  if (!at) return;
  const float y = areas_.lanes.y0 + at->y - (at->y <= sticky_height() ? 0 : scene.scroll);
  const float half = scene.painter.px(1);
  scene.painter.fill({areas_.titles.x0, y - half, areas_.lanes.x1, y + half}, colour(scene.theme.accent));
}

// The pinned lanes and the GPUs that come first, as far as they leave enough room for what scrolls below them.
std::size_t TimelinePanel::sticky_count() const {
  if (layout_.top_height() <= areas_.lanes.height() * kMostGpus) return layout_.top_count();
  return layout_.pinned_height() <= areas_.lanes.height() * kMostPinned ? layout_.pinned_count() : 0;
}

float TimelinePanel::sticky_height() const {
  const std::size_t count = sticky_count();
  return count == 0 ? 0 : layout_.bands()[count - 1].bottom();
}

bool TimelinePanel::is_sticky(const Band& band) const { return static_cast<std::size_t>(&band - layout_.bands().data()) < sticky_count(); }

void TimelinePanel::lay_regions(const ViewState& view) {
  const float scroll = std::floor(static_cast<float>(view.scroll_px) * view.scale);
  const float sticky = sticky_height();
  const Box &lanes = areas_.lanes, &titles = areas_.titles;
  const auto [first, last] = layout_.visible(scroll + sticky, scroll + lanes.height());
  const float y = lanes.y0 + sticky;
  regions_[0] = {{lanes.x0, y, lanes.x1, lanes.y1}, {titles.x0, y, titles.x1, titles.y1}, first, last};
  regions_[1] = {{lanes.x0, lanes.y0, lanes.x1, y}, {titles.x0, titles.y0, titles.x1, y}, 0, sticky_count()};
  regions_[0].scroll = scroll;
}

void TimelinePanel::paint_band(const Document& document, const PixelGrid& grid, const Band& band) {
  const std::uint32_t depths = band.collapsed ? std::min(1u, band.depths) : band.depths;
  for (std::uint32_t depth = 0; depth < depths; ++depth)
    paint_strip(document, grid, band, row_of(document.trace, document.lanes, band, depth), layout_.strip(band, depth));
  for (std::uint32_t level = 0; band.spans && !band.collapsed && level < band.spans->depth_count(); ++level)
    paint_strip(document, grid, band, band.spans->row(level), layout_.spans_strip(band, level));
}

void TimelinePanel::paint_strip(const Document& document, const PixelGrid& grid, const Band& band, const RowSlices& row, const LaneLayout::Strip& strip) {
  const float y = areas_.lanes.y0 + strip.y - (is_sticky(band) ? 0 : regions_[0].scroll);
  if (y + strip.height <= areas_.lanes.y0 || y >= areas_.lanes.y1) return;
  paint_row(document.trace, row, grid, strip.y, strip.height, *colours_, scratch_, rects_);
}

void TimelinePanel::paint(const Document& document, const PixelGrid& grid) {
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
    if (region.first == region.last) continue;
    scene.areas.lanes = region.lanes;
    scene.areas.titles = region.titles;
    scene.first_band = region.first;
    scene.last_band = region.last;
    scene.rects = std::span(rects_).subspan(region.first_rect, region.last_rect - region.first_rect);
    draw(scene);
  }
  scene.areas = areas_;
}

void TimelinePanel::draw_marks(TimelineScene& scene) {
  // Not asked of the document: what it had no findings of when this frame began may have some by now.
  const bool has_findings = !scene.findings.marks.empty();
  for (std::size_t i = scene.first_band; i < scene.last_band; ++i) {
    const Band& band = layout_.bands()[i];
    if (band.kind != BandKind::lane) continue;
    const std::span<const LaneId> lanes = band.streams ? std::span<const LaneId>(band.streams->lanes) : std::span(&band.lane, 1);
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
  painter.fill(areas_.lanes, colour(scene.theme.background));
  each_region(scene, [&](TimelineScene& part) {
    painter.clip(part.areas.lanes);
    draw_bands(part);
    painter.unclip();
  });
  draw_ruler(scene);
  each_region(scene, [&](TimelineScene& part) {
    const Box& box = part.areas.lanes;
    zones_.add({ZoneKind::none, box.x0, box.y0, box.x1, box.y1, {}, {}, {}, 0, 0, {}});  // over what has scrolled under pinned lanes
    painter.clip(box);
    draw_counters(part);
    draw_gaps(part);
    draw_slices(part);
    draw_marks(part);
    painter.unclip();
  });
}

// What lies over everything else; gives what is under the pointer.
Zone TimelinePanel::draw_overlays(TimelineScene& scene) {
  scene.painter.clip(areas_.lanes);
  draw_flows(scene);
  const bool over_lanes = hovered_ && scene.pointer.y >= areas_.ruler.y1;
  const Zone hovered = over_lanes ? zones_.at(scene.pointer.x, scene.pointer.y) : Zone{};
  draw_chosen_gap(scene);
  draw_outlines(scene, hovered);
  draw_scroll_mark(scene);
  scene.painter.unclip();
  draw_range(scene);
  draw_area(scene, area_place(scene.document));
  draw_guide(scene);
  const std::optional<std::size_t> note = draw_notes(scene);
  if (note && clicked_) {
    scene.view.notes.chosen = static_cast<std::int32_t>(*note);
    scene.view.notes.edit = true;
  }
  draw_note_editor(scene);
  if (!ImGui::IsMouseDown(0) && !ImGui::IsMouseDown(2)) draw_timeline_tooltip(scene, hovered);
  return hovered;
}

void TimelinePanel::draw(const Document& document, ViewState& view, const Box& box, const TimelineKeys& keys,
                         double delta_s, bool with_overview) {
  Painter painter(*ImGui::GetWindowDrawList(), view.scale);
  areas_ = areas_in(box, view, painter, with_overview);
  if (areas_.lanes.height() < 1 || areas_.lanes.width() < 1) {
    rects_.clear();  // of a larger window
    zones_.clear();
    view.scroll_px = std::max(0.0, view.scroll_px);  // keys still scroll
    return;
  }
  title_splitter(view);
  if (with_overview) overview_drag(document, view);
  move_by_mouse(document, view, keys, delta_s);
  const ImVec2 pointer = ImGui::GetIO().MousePos;
  view.notes.pointer.reset();
  if (hovered_ && pointer.x >= areas_.lanes.x0)
    view.notes.pointer = ns_from_px(view.time, static_cast<double>(areas_.lanes.width()), static_cast<double>(pointer.x - areas_.lanes.x0));
  lay_out(document, view);
  if (view.selection) view.gaps.chosen.reset();
  if (view.reveal_selection) reveal(document, view);
  if (view.reveal_lane) show_lane(document, view);
  clamp_scroll(view);

  lay_regions(view);
  const PixelGrid grid(view.time, static_cast<int>(areas_.lanes.width()), axis_zero(view, document.trace.span));
  paint(document, grid);
  zones_.clear();
  // Asked once a frame: it may arrive at any moment.
  if (const Diagnosis* diagnosis = document.diagnosis()) gather_lane_findings(document.trace, *diagnosis, view.findings, findings_);
  const Area* area = area_drag_.area() ? area_drag_.area() : marked_area(view);
  const std::optional<Span> range = dragged_range_ ? dragged_range_ : area ? std::optional(area->span) : view.range;
  TimelineScene scene{
      document, view,      theme_of(view.theme), painter,  areas_, layout_, grid, areas_.lanes.y0, regions_[0].scroll, sticky_height(), 0, 0, widths_, chain_, rects_,
      zones_,   findings_, scene_arrows_, gap_words_, counter_columns_, ImGui::GetIO().MousePos, hovered_, range, dragged_range_ ? nullptr : area};
  if (with_overview) overview(document, view, painter);
  draw_lanes(scene);
  each_region(scene, [](TimelineScene& part) { draw_titles(part); });
  draw_lane_drop(scene);
  act_on_mouse(document, view, draw_overlays(scene));
  draw_lanes_button(document, view, areas_.ruler_titles);
  lane_menu_.draw(document, view);
  view.history.watch(place_of(view), {view.move.from.span, view.move.to.span, view.move.active}, delta_s);
}

}  // namespace gapscope
