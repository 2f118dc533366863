// The ruler above the lanes, its lines behind them, and the guide at the pointer.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/trace/crop_mark.h"
#include "core/view/compare/compare_model.h"
#include "core/view/document.h"
#include "core/view/timeline/ruler.h"
#include "ui/timeline/timeline_scene.h"

namespace gapscope {
namespace {

constexpr float kTickSpacing = 110;  // room for a label and air
constexpr float kMajorTick = 8;
constexpr float kMinorTick = 4;
constexpr float kLengthRoom = 24;
constexpr float kLanesButton = 66;  // next to what the ruler counts from

void draw_tick(TimelineScene& scene, const Tick& tick) {
  Painter& p = scene.painter;
  const Box& ruler = scene.areas.digits;
  const float x = scene.window_x(scene.grid.column(tick.time));
  if (x < ruler.x0 || x >= ruler.x1) return;
  p.line_y(x, ruler.y1 - p.px(tick.major ? kMajorTick : kMinorTick), ruler.y1,
           colour(tick.major ? scene.theme.muted : scene.theme.line));
  // A label cut at the edge could be read as another number.
  if (!tick.major || x + p.px(4) + p.text_width(Face::mono, tick.label) > ruler.x1) return;
  p.text_in(Face::mono, {x + p.px(4), ruler.y0, ruler.x1, ruler.y1 - p.px(2)}, colour(scene.theme.muted), tick.label);
}

Ruler ticks_of(const TimelineScene& scene) {
  return make_ruler(scene.view.time.span, scene.areas.ruler.width(), static_cast<double>(scene.painter.px(kTickSpacing)),
                    axis_zero(scene.view, scene.document.trace.span));
}

}  // namespace

void draw_through(TimelineScene& scene, float x, ImU32 ink) {
  scene.lane_window.each_part([&](const Box& part) { scene.painter.line_y(x, part.y0, part.y1, ink); });
}

void draw_ruler_lines(TimelineScene& scene) {
  for (const Tick& tick : ticks_of(scene).ticks) {
    const int column = scene.grid.column(tick.time);
    if (!tick.major || column < 0 || column >= scene.grid.width()) continue;
    draw_through(scene, scene.window_x(column), colour(scene.theme.line, 0.5f));
  }
}

void draw_ruler(TimelineScene& scene) {
  Painter& p = scene.painter;
  const Box& ruler = scene.areas.ruler;
  const Ruler ticks = ticks_of(scene);
  p.fill({scene.areas.ruler_titles.x0, ruler.y0, ruler.x1, ruler.y1}, colour(scene.theme.surface));
  p.clip(ruler);
  for (const Tick& tick : ticks.ticks) draw_tick(scene, tick);
  p.unclip();
  const Box& titles = scene.areas.ruler_titles;
  const ComparisonAnswer* compared = scene.view.linked ? scene.window.compare.answer.get() : nullptr;
  const std::string zero = compared && !compared->comparison.of_whole() ? "step" : "start";
  const std::string text = ticks.offset.empty() ? "from the " + zero : zero + " " + ticks.offset;
  const float width = p.text_width(Face::sans, text);
  if (width + p.px(kLanesButton) < titles.width())
    p.text_in(Face::sans, {titles.x1 - width - p.px(8), titles.y0, titles.x1, scene.areas.digits.y1 - p.px(2)},
              colour(scene.theme.muted), text);
  p.line_x(ruler.y1 - p.hairline(), titles.x0, ruler.x1, colour(scene.theme.line));
  p.line_y(titles.x1 - p.hairline(), titles.y0, titles.y1, colour(scene.theme.line));
}

namespace {

// Ends of a stretch of time within the lanes.
struct LaneEnds {
  float x0, x1;
};
LaneEnds ends_in_lanes(const TimelineScene& scene, Span span) {
  const Box& lanes = scene.areas.lanes;
  return {std::clamp(scene.window_x(scene.grid.column(span.begin)), lanes.x0, lanes.x1),
          std::clamp(scene.window_x(scene.grid.column(span.end)), lanes.x0, lanes.x1)};
}

// Titles of processes stay bright: they have no place in time.
void dim_outside(TimelineScene& scene, Span span) {
  Painter& p = scene.painter;
  const Box& lanes = scene.areas.lanes;
  const auto ends = ends_in_lanes(scene, span);
  scene.lane_window.each_part([&](const Box& part) {
    const auto dim = [&](float y0, float y1) {
      if (y0 >= y1) return;
      p.fill({lanes.x0, y0, ends.x0, y1}, colour(scene.theme.background, 0.5f));
      p.fill({ends.x1, y0, lanes.x1, y1}, colour(scene.theme.background, 0.5f));
    };
    float from = part.y0;
    for (const Band& band : scene.layout.bands()) {
      if (band.kind != BandKind::process || scene.lane_window.part_of(band.y).y0 != part.y0) continue;
      const float y = scene.window_y(band.y);
      dim(from, std::min(y, part.y1));
      from = std::max(from, y + band.height);
    }
    dim(from, part.y1);
  });
}

}  // namespace

void draw_range(TimelineScene& scene) {
  // What is outside a crop's window is there for what is inside, and shows nothing of its own time.
  const std::optional<CropMark> crop = crop_mark(scene.document.trace);
  if (crop && crop->window != crop->whole) dim_outside(scene, crop->window);
  if (!scene.range) return;
  Painter& p = scene.painter;
  const Box& lanes = scene.areas.lanes;
  const Box& ruler = scene.areas.ruler;
  const auto [x0, x1] = ends_in_lanes(scene, *scene.range);
  p.fill({x0, ruler.y0, x1, ruler.y1}, colour(scene.theme.accent, 0.25f));
  if (scene.area) return;
  dim_outside(scene, *scene.range);
  for (const float x : {x0, x1}) {
    if (x <= lanes.x0 || x >= lanes.x1) continue;
    p.line_y(x, ruler.y0, ruler.y1, colour(scene.theme.accent));
    draw_through(scene, x, colour(scene.theme.accent));
  }
  // At the bottom: at the top is what the GPU did in it.
  if (x0 < x1) draw_length(scene, {x0, lanes.y1 - p.px(kLengthRoom), x1, lanes.y1}, *scene.range);
}

GuidePill guide_pill(const TimelineScene& scene) {
  const Box& lanes = scene.areas.lanes;
  const Box& ruler = scene.areas.ruler;
  const ImVec2 at = scene.pointer;
  if (!scene.pointer_inside || at.x < lanes.x0 || at.x >= lanes.x1 || at.y < ruler.y0 || at.y >= lanes.y1) return {};
  const Painter& p = scene.painter;
  const Ns t = ns_from_px(scene.view.time, static_cast<double>(lanes.width()), static_cast<double>(at.x - lanes.x0));
  const std::string text = exact_time_text(t - axis_zero(scene.view, scene.document.trace.span));
  const float width = p.text_width(Face::mono, text) + p.px(12);
  const float x0 = std::clamp(std::floor(at.x - width / 2), ruler.x0, std::max(ruler.x0, ruler.x1 - width));
  return {{x0, ruler.y0 + p.px(2), x0 + width, scene.areas.digits.y1 - p.px(3)}, text};
}

void draw_guide(TimelineScene& scene) {
  const GuidePill pill = guide_pill(scene);
  if (pill.text.empty()) return;
  Painter& p = scene.painter;
  draw_through(scene, std::floor(scene.pointer.x), colour(scene.theme.accent, 0.45f));
  p.fill_rounded(pill.box, colour(scene.theme.accent), p.px(3));
  p.text_in(Face::mono, {pill.box.x0 + p.px(6), pill.box.y0, pill.box.x1, pill.box.y1}, colour(scene.theme.background),
            pill.text);
}

}  // namespace gapscope
