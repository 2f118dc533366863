// Counter lanes: an area a lane, as wide as the axis, a value a pixel column.
#include <algorithm>
#include <cmath>

#include "ui/timeline/timeline_scene.h"

namespace gapscope {
namespace {

constexpr float kPadding = 3;      // above the area's highest value
constexpr float kLine = 1.5f;      // of the value itself
constexpr float kAreaAlpha = 0.45f;
constexpr float kReachAlpha = 0.3f;  // over the area: where a value swings within one pixel

Rgb ink_of(const Theme& theme, CounterLane::Look look) {
  switch (look) {
    case CounterLane::Look::utilization: return theme.accent;
    case CounterLane::Look::efficiency: return theme.good;
    case CounterLane::Look::memory: return theme.notable;
    case CounterLane::Look::queue: return blend(theme.accent, theme.muted, 0.5f);
    case CounterLane::Look::counter: return blend(theme.notable, theme.muted, 0.5f);
  }
  return theme.accent;
}

// Columns of equal reach are one rectangle, so a still counter costs one.
void draw_series(TimelineScene& scene, const std::vector<CounterColumn>& columns, const CounterLane& lane, const Box& box,
                 Rgb rgb, bool area) {
  const double range = lane.high > lane.low ? lane.high - lane.low : 1;
  const auto y_of = [&](double value) {
    const double share = std::clamp((value - lane.low) / range, 0.0, 1.0);
    return std::round(box.y1 - static_cast<float>(share) * box.height());
  };
  const float thick = std::max(1.0f, std::round(kLine * scene.painter.scale()));
  for (std::size_t begin = 0; begin < columns.size();) {
    std::size_t end = begin + 1;
    while (end < columns.size() && columns[end] == columns[begin]) ++end;
    const CounterColumn& c = columns[begin];
    const float x0 = scene.window_x(static_cast<int>(begin)), x1 = scene.window_x(static_cast<int>(end));
    begin = end;
    if (!c.known) continue;
    const float high = y_of(c.high), low = y_of(c.low);
    if (area) scene.painter.fill({x0, high, x1, box.y1}, colour(rgb, kAreaAlpha));
    if (area && c.high <= lane.low) continue;  // an empty lane stays empty
    const float top = std::min(high, box.y1 - thick);
    if (low > top + thick) scene.painter.fill({x0, top + thick, x1, low}, colour(rgb, kReachAlpha));
    scene.painter.fill({x0, top, x1, top + thick}, colour(rgb, area ? 1 : 0.7f));
  }
}

}  // namespace

void draw_counters(TimelineScene& scene) {
  std::vector<CounterColumn> columns;
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
      lane.series[s].series->columns(scene.grid, columns);
      // After the recording's end nothing is known; the last value would seem to last.
      const int end = std::clamp(scene.grid.column(scene.document.trace.span.end) + 1, 0, scene.grid.width());
      columns.resize(static_cast<std::size_t>(end));
      draw_series(scene, columns, lane, box, s == 0 ? rgb : scene.theme.muted, s == 0);
    }
    scene.zones.add({ZoneKind::counter, lanes.x0, y0, lanes.x1, y0 + band.height, {}, {}, band.process,
                     static_cast<std::uint32_t>(band.counter), 0, {}});
  }
}

}  // namespace gapscope
