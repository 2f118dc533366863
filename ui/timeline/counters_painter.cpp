// Counter lanes: an area a lane, as wide as the axis, a value a pixel column.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/view/document.h"
#include "ui/timeline/timeline_scene.h"

namespace gapscope {
namespace {

constexpr float kPadding = 3;  // above the area's highest value
constexpr float kLine = 1.5f;  // of the value itself
constexpr float kAreaAlpha = 0.45f;
constexpr float kReachAlpha = 0.3f;  // over the area: where a value swings within one pixel

Rgb ink_of(const Theme& theme, CounterLane::Look look) {
  switch (look) {
    case CounterLane::Look::utilization: return theme.accent;
    case CounterLane::Look::efficiency: return theme.good;
    case CounterLane::Look::memory: return theme.notable;
    case CounterLane::Look::compute: return theme.accent;
    case CounterLane::Look::tensor: return theme.good;
    case CounterLane::Look::traffic: return theme.notable;
    case CounterLane::Look::queue: return blend(theme.accent, theme.muted, 0.5f);
    case CounterLane::Look::counter: return blend(theme.notable, theme.muted, 0.5f);
  }
  return theme.accent;
}

// A column as it is drawn, in px of the window. The value itself is the mean where that is known, else the highest.
struct Reach {
  float high = 0, value = 0, low = 0;
  bool known = false;
  friend bool operator==(const Reach&, const Reach&) = default;
};

// Neighbours that look the same are one rectangle, so a still counter costs one.
void draw_series(TimelineScene& scene, std::span<const CounterColumn> columns, const CounterLane& lane, const Box& box, Rgb rgb,
                 bool area) {
  const double range = lane.high > lane.low ? lane.high - lane.low : 1;
  const auto y_of = [&](double value) {
    const double share = std::clamp((value - lane.low) / range, 0.0, 1.0);
    return std::round(box.y1 - static_cast<float>(share) * box.height());
  };
  const auto reach_of = [&](const CounterColumn& c) {
    const bool stays_empty = area && c.high <= lane.low;  // an empty lane stays empty
    return c.known && !stays_empty ? Reach{y_of(c.high), y_of(c.averaged ? c.mean : c.high), y_of(c.low), true} : Reach{};
  };
  const float thick = std::max(1.0f, std::round(kLine * scene.painter.scale()));
  const ImU32 below = colour(rgb, kAreaAlpha), within = colour(rgb, kReachAlpha), ink = colour(rgb, area ? 1 : 0.7f);
  Reach reach = columns.empty() ? Reach{} : reach_of(columns.front());
  for (std::size_t begin = 0; begin < columns.size();) {
    std::size_t end = begin + 1;
    Reach next;
    while (end < columns.size() && (next = reach_of(columns[end])) == reach) ++end;
    const Reach now = std::exchange(reach, next);
    const float x0 = scene.window_x(static_cast<int>(begin)), x1 = scene.window_x(static_cast<int>(end));
    begin = end;
    if (!now.known) continue;
    if (area) scene.painter.fill({x0, now.value, x1, box.y1}, below);
    const float top = std::min(now.value, box.y1 - thick);
    if (now.high < top) scene.painter.fill({x0, now.high, x1, top}, within);
    if (now.low > top + thick) scene.painter.fill({x0, top + thick, x1, now.low}, within);
    scene.painter.fill({x0, top, x1, top + thick}, ink);
  }
}

// What its top and its foot represent, at the left end.
void draw_scale(TimelineScene& scene, const CounterLane& lane, const Box& box) {
  Painter& p = scene.painter;
  const float line = font_size(Face::mono);
  if (box.height() < 2 * line) return;
  const auto put = [&](double value, float y) {
    const std::string text = counter_text(lane.unit, value);
    const Box plate{box.x0, y, box.x0 + p.text_width(Face::mono, text) + p.px(8), y + line};
    p.fill(plate, colour(scene.theme.background, 0.7f));
    p.text_in(Face::mono, {plate.x0 + p.px(4), y, plate.x1 + 1, plate.y1}, colour(scene.theme.muted), text);
  };
  put(lane.high, box.y0);
  put(lane.low, box.y1 - line);
}

}  // namespace

void draw_counters(TimelineScene& scene) {
  // After the recording's end nothing is known; the last value would seem to last.
  const auto end =
      static_cast<std::size_t>(std::clamp(scene.grid.column(scene.document.trace.span.end) + 1, 0, scene.grid.width()));
  for (std::size_t i = scene.first_band; i < scene.last_band; ++i) {
    const Band& band = scene.layout.bands()[i];
    if (band.kind != BandKind::counter) continue;
    const CounterLane& lane = (*scene.document.counters())[band.counter];
    const float y0 = scene.window_y(band.y);
    const Box& lanes = scene.areas.lanes;
    const float padding = band.collapsed ? scene.painter.px(1) : scene.painter.px(kPadding);
    const Box box{lanes.x0, y0 + padding, lanes.x1, y0 + band.height - scene.painter.hairline()};
    const Rgb rgb = ink_of(scene.theme, lane.look);
    for (std::size_t s = 0; s < lane.series.size(); ++s) {
      const std::span<const CounterColumn> columns =
          scene.caches.counter_columns.of(*lane.series[s].series, scene.grid).first(end);
      draw_series(scene, columns, lane, box, s == 0 ? rgb : scene.theme.muted, s == 0);
    }
    draw_scale(scene, lane, box);
    scene.zones.add({ZoneKind::counter,
                     lanes.x0,
                     y0,
                     lanes.x1,
                     y0 + band.height,
                     {},
                     {},
                     band.process,
                     static_cast<std::uint32_t>(band.counter),
                     0,
                     {}});
  }
}

}  // namespace gapscope
