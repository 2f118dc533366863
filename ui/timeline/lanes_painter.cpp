// Bands, slices and outlines: the middle of the timeline.
#include <algorithm>

#include "core/view/answers.h"
#include "core/view/compare/kernel_marks.h"
#include "core/view/document.h"
#include "ui/timeline/kernel_mark_paint.h"
#include "ui/timeline/timeline_scene.h"

namespace gapscope {
namespace {

constexpr float kLabelPadding = 4;
constexpr float kLeastLabelRoom = 10;  // less holds no letter and an ellipsis
constexpr float kEdgeFrom = 4;         // narrower slices would be all edge
constexpr float kHoverLight = 0.16f;
constexpr float kDimmed = 0.18f;    // alpha of slices that are no search hits
constexpr float kSameAlpha = 0.4f;  // of kernels that a comparison found unchanged, alongside those that it did not
constexpr float kSelectedLine = 2;
constexpr float kInstantHeight = 4;
constexpr float kLeastScrollMark = 24;

Box box_of(const TimelineScene& scene, const SliceRect& rect) {
  const float y = scene.window_y(rect.y);
  return {scene.window_x(rect.x0), y, scene.window_x(rect.x1), y + rect.height};
}

// Slices that a search did not find step back.
bool is_dimmed(const TimelineScene& scene, const SliceRect& rect) {
  const SearchAnswer* answer = answer_to<SearchQuestion>(scene.document).get();
  if (!answer || answer->hits.empty()) return false;
  if (rect.count == 1) return !answer->is_hit.has(rect.slice);
  return !holds_hit(scene.document.trace, *answer, rect.slice, rect.span);
}

// What became of a kernel, where two traces are compared.
KernelMark mark_of(const TimelineScene& scene, const SliceRect& rect) {
  const std::optional<LinkedAxis>& linked = scene.view.linked;
  return linked && linked->marks ? linked->marks->of(scene.document.trace.name_id(rect.slice)) : KernelMark::none;
}

bool is_told(KernelMark mark) { return mark == KernelMark::changed || mark == KernelMark::only; }

Paint paint_of(const TimelineScene& scene, const SliceRect& rect) {
  const KernelMark mark = mark_of(scene, rect);
  if (is_told(mark)) return mark_paint(scene.theme, mark, scene.view.linked->is_a);
  return paint_of(scene.window.settings.slice_colours, rect.colour.hue, rect.colour.shade);
}

void draw_slice(TimelineScene& scene, const SliceRect& rect) {
  const Paint paint = paint_of(scene, rect);
  const Box box = box_of(scene, rect);
  const bool dimmed = is_dimmed(scene, rect);
  scene.painter.fill(box, colour(paint.fill, dimmed ? kDimmed : mark_of(scene, rect) == KernelMark::same ? kSameAlpha : 1));
  const float hairline = scene.painter.hairline();
  if (!dimmed && box.width() >= kEdgeFrom * hairline) {
    scene.painter.fill({box.x1 - hairline, box.y0, box.x1, box.y1}, colour(paint.edge));
  }
  if (rect.colour.hue == Hue::overhead) scene.painter.hatch(box, colour(paint.text, 0.3f));
  scene.zones.add({rect.count > 1 ? ZoneKind::run : ZoneKind::slice,
                   box.x0,
                   box.y0,
                   box.x1,
                   box.y1,
                   rect.slice,
                   {},
                   {},
                   0,
                   rect.count,
                   rect.span});
}

void draw_label(TimelineScene& scene, const SliceRect& rect, std::string& label) {
  const float padding = scene.painter.px(kLabelPadding);
  const float room = static_cast<float>(rect.width()) - 2 * padding;
  if (rect.count > 1 || room < kLeastLabelRoom * scene.painter.scale()) return;
  if (rect.height < font_size(Face::mono)) return;
  const bool marked = is_told(mark_of(scene, rect));
  fit_label(label_text(scene.document.trace, rect.slice), marked ? room - scene.painter.text_width(Face::mono, "+ ") : room,
            scene.widths, label);
  Box box = box_of(scene, rect);
  box.x0 += padding;
  const KernelMark mark = mark_of(scene, rect);
  if (is_told(mark)) label.insert(0, mark_sign(mark, (scene.view.linked->is_a)));
  const Rgb ink = is_dimmed(scene, rect)     ? scene.theme.muted
                  : mark == KernelMark::same ? scene.theme.text
                                             : paint_of(scene, rect).text;
  scene.painter.text_in(Face::mono, box, colour(ink), label);
}

// Where a slice that may be too narrow, or off screen sideways, is outlined, and the part that it is in. Null when it is not
// on screen.
const Box* outline_box(const TimelineScene& scene, SliceId slice, Box& box) {
  const Trace& trace = scene.document.trace;
  const std::optional<LaneLayout::Place> place = scene.layout.place_of(trace, slice);
  if (!place || place->band->kind != BandKind::lane || (place->band->collapsed && place->depth > 0)) return nullptr;
  const LaneLayout::Strip strip = place->strip;
  const int x0 = scene.grid.column(trace.begin(slice));
  const int x1 = std::max(x0 + 1, scene.grid.column(trace.end(slice)));
  if (x1 <= 0 || x0 >= scene.grid.width()) return nullptr;
  const float y = scene.window_y(strip.y);
  box = {scene.window_x(x0), y, scene.window_x(x1), y + strip.height};
  return &scene.lane_window.part_of(strip.y);
}

// The GPU work of the selection: lighter, and underlined.
void draw_work(TimelineScene& scene) {
  if (scene.chain.work.empty()) return;
  const float line = scene.painter.px(kSelectedLine);
  for (const SliceRect& rect : scene.rects) {
    if (!holds_work(scene.document.trace, scene.chain.work, rect.slice, rect.span)) continue;
    const Box box = box_of(scene, rect);
    scene.painter.clip(scene.lane_window.part_of(rect.y));
    scene.painter.fill(box, colour(scene.theme.selection, kHoverLight));
    scene.painter.fill({box.x0, box.y1 - line, box.x1, box.y1}, colour(scene.theme.selection));
    scene.painter.unclip();
  }
}

}  // namespace

// Distinguished with any colour vision (Okabe and Ito; deeper where the ground is light), and by their signs.
Paint mark_paint(const Theme& theme, KernelMark mark, bool in_a) {
  constexpr Rgb kInk{0x14, 0x17, 0x1C};
  const auto paint = [&](unsigned fill, unsigned deep, unsigned border) {
    return Paint{contrast(rgb(fill), theme.background) >= kLeastMarkContrast ? rgb(fill) : rgb(deep), rgb(border), kInk};
  };
  if (mark == KernelMark::changed) return paint(0xF0E442, 0xA09000, 0x9A9120);
  return in_a ? paint(0x56B4E9, 0x2F8CC4, 0x2E6C91) : paint(0xE69F00, 0xC27A00, 0x8F6200);
}

const char* mark_sign(KernelMark mark, bool in_a) { return mark == KernelMark::changed ? "~ " : in_a ? "- " : "+ "; }

void draw_bands(TimelineScene& scene) {
  const Box& lanes = scene.areas.lanes;
  for (std::size_t i = scene.first_band; i < scene.last_band; ++i) {
    const Band& band = scene.layout.bands()[i];
    const float y0 = scene.window_y(band.y);
    const float y1 = y0 + band.height;
    if (band.kind == BandKind::process) scene.painter.fill({lanes.x0, y0, lanes.x1, y1}, colour(scene.theme.surface));
    scene.painter.line_x(y1 - scene.painter.hairline(), lanes.x0, lanes.x1, colour(scene.theme.line, 0.6f));
  }
}

void draw_slices(TimelineScene& scene) {
  for (const SliceRect& rect : scene.rects) draw_slice(scene, rect);
  std::string label;
  for (const SliceRect& rect : scene.rects) draw_label(scene, rect, label);
}

void draw_instants(TimelineScene& scene, const std::vector<InstantMark>& marks, const Band& band) {
  const float size = scene.painter.px(kInstantHeight);
  const float y1 = scene.window_y(band.y) + band.height - scene.painter.hairline();
  for (const InstantMark& mark : marks) {
    const float x = scene.window_x(mark.x);
    scene.painter.fill({x, y1 - size, x + scene.painter.hairline(), y1}, colour(scene.theme.muted, 0.7f));
    scene.zones.add({ZoneKind::instants, x - 2, y1 - size, x + 3, y1, {}, band.lane, {}, mark.first, mark.count, {}});
  }
}

void draw_scroll_mark(TimelineScene& scene) {
  const Box& lanes = scene.lane_window.rest;
  const float all = scene.layout.height() - scene.lane_window.pinned;
  if (all <= lanes.height() || lanes.height() < 1) return;
  const float length =
      std::min(lanes.height(), std::max(scene.painter.px(kLeastScrollMark), lanes.height() * lanes.height() / all));
  const float y = lanes.y0 + (lanes.height() - length) * (scene.lane_window.scroll / (all - lanes.height()));
  const float right = lanes.x1 - scene.painter.px(2);
  const float width = scene.painter.px(4);
  scene.painter.fill_rounded({right - width, y, right, y + length}, colour(scene.theme.muted, 0.55f), width / 2);
}

void outline_slice(TimelineScene& scene, SliceId slice, ImU32 ink, float thickness) {
  Box box;
  const Box* part = outline_box(scene, slice, box);
  if (!part) return;
  const float least = 3 * thickness;  // a sub-pixel slice is framed around, not over
  if (box.width() < least) {
    const float grow = (least - box.width()) / 2;
    box.x0 -= grow;
    box.x1 += grow;
  }
  scene.painter.clip(*part);
  scene.painter.frame(box, ink, thickness);
  scene.painter.unclip();
}

void draw_outlines(TimelineScene& scene, const Zone& hovered) {
  if (hovered.kind == ZoneKind::slice || hovered.kind == ZoneKind::run) {
    scene.painter.fill({hovered.x0, hovered.y0, hovered.x1, hovered.y1}, colour(scene.theme.text, kHoverLight));
  }
  draw_work(scene);
  for (const SliceId member : scene.chain.members) {
    outline_slice(scene, member, colour(scene.theme.selection, 0.8f), scene.painter.hairline());
  }
  if (scene.view.linked && scene.view.linked->match) {
    outline_slice(scene, scene.view.linked->match, colour(scene.theme.notable), scene.painter.px(kSelectedLine));
  }
  if (scene.view.selection.valid()) {
    outline_slice(scene, scene.view.selection, colour(scene.theme.selection), scene.painter.px(kSelectedLine));
  }
}

}  // namespace gapscope
