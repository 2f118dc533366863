// The marked area over the lanes: a tint, its frame, how long it is; and which lanes are in it.
#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "ui/timeline/area_drag.h"
#include "ui/timeline/timeline_scene.h"

namespace gapscope {
namespace {

constexpr float kTint = 0.16f;
constexpr float kLaneMark = 3;
constexpr float kPill = 18;

void draw_lane_marks(TimelineScene& scene) {
  Painter& p = scene.painter;
  const Box& titles = scene.areas.titles;
  for (const LaneId lane : scene.area->lanes) {
    const Band* band = scene.layout.band_of(lane);
    if (!band || band->kind != BandKind::lane) continue;
    const float y0 = scene.window_y(band->y);
    const Box& part = scene.lane_window.part_of(band->y);
    const Box mark{titles.x1 - p.px(kLaneMark), std::max(y0, part.y0), titles.x1,
                   std::min(y0 + band->height - p.hairline(), part.y1)};
    if (mark.y0 < mark.y1) p.fill(mark, colour(scene.theme.accent));
  }
}

}  // namespace

void draw_length(TimelineScene& scene, const Box& seen, Span span) {
  Painter& p = scene.painter;
  const std::string text = format_duration(span.length());
  const float width = p.text_width(Face::mono, text) + p.px(12);
  const Box& lanes = scene.areas.lanes;
  const float middle = (std::max(seen.x0, lanes.x0) + std::min(seen.x1, lanes.x1)) / 2;
  const float x0 = std::clamp(std::floor(middle - width / 2), lanes.x0, std::max(lanes.x0, lanes.x1 - width));
  const float y0 = std::max(seen.y0, lanes.y0) + p.px(2);
  const Box pill{x0, y0, x0 + width, y0 + p.px(kPill)};
  p.fill_rounded(pill, colour(scene.theme.accent), p.px(3));
  p.text_in(Face::mono, {pill.x0 + p.px(6), pill.y0, pill.x1, pill.y1}, colour(scene.theme.background), text);
}

void draw_area(TimelineScene& scene, const AreaPlace& place) {
  if (!scene.area) return;
  draw_lane_marks(scene);
  const Box box = area_box(place, scene.view, *scene.area);
  const Box& lanes = scene.areas.lanes;
  if (box.y0 >= box.y1 || box.x1 < lanes.x0 || box.x0 > lanes.x1 || box.y1 < lanes.y0 || box.y0 > lanes.y1) return;
  Painter& p = scene.painter;
  // Far ends are cut before they are drawn: an area may be wider than a float is exact.
  const float beyond = p.px(8);
  const Box shown{std::floor(std::max(box.x0, lanes.x0 - beyond)), std::floor(std::max(box.y0, lanes.y0 - beyond)),
                  std::ceil(std::min(std::max(box.x1, box.x0 + p.hairline()), lanes.x1 + beyond)),
                  std::ceil(std::min(box.y1, lanes.y1 + beyond))};
  scene.lane_window.each_part([&](const Box& part) {
    p.clip(part);
    p.fill(shown, colour(scene.theme.accent, kTint));
    p.frame(shown, colour(scene.theme.accent), p.hairline());
    draw_length(scene, shown, scene.area->span);
    p.unclip();
  });
}

}  // namespace gapscope
