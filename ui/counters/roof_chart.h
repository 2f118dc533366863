#pragma once
// The scales and roofs of a roofline chart: of the tabs Counters and Roofline.
#include "core/view/counters/counters_model.h"
#include "ui/timeline/painter.h"

namespace gapscope {

// Where values of the chart lie in the window.
struct RoofPlace {
  const RooflineChart& chart;
  Box box;
  float x(double per_byte) const { return box.x0 + static_cast<float>(chart.per_byte.share(per_byte)) * box.width(); }
  float y(double per_second) const { return box.y1 - static_cast<float>(chart.per_second.share(per_second)) * box.height(); }
};

// Left of the chart the operations a second, below it the operations a byte.
void draw_scales(Painter& painter, const RoofPlace& at, const Theme& theme);
void draw_roofs(Painter& painter, const RoofPlace& at, const Theme& theme);

}  // namespace gapscope
