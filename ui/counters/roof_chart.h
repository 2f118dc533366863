#pragma once
// A roofline chart: of the tabs Counters and Roofline.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/counters/counters_model.h"
#include "core/view/view_state.h"
#include "ui/timeline/painter.h"

namespace gapscope {

// Where values of the chart lie in the window.
struct RoofPlace {
  const RooflineChart& chart;
  Box box;
  float x(double per_byte) const { return box.x0 + static_cast<float>(chart.per_byte.share(per_byte)) * box.width(); }
  float y(double per_second) const { return box.y1 - static_cast<float>(chart.per_second.share(per_second)) * box.height(); }
};

// What a roof or the slope of the memory is called, and where.
struct RoofName {
  std::string text;
  Box box;
};
// Left of where each roof begins and above the slope, where no kernel can be; in the lower right corner where that has no room.
// None over another. Letters are `line` px high.
std::vector<RoofName> roof_names(const RoofPlace& at, float line, const std::function<float(std::string_view)>& width_of);

// In what is left of the window: left of it the operations a second, below it the operations a byte. `dots` draws what is
// in it.
void draw_roof_chart(const RooflineChart& chart, const WindowState& window,
                     const std::function<void(Painter& painter, const RoofPlace& at, bool hovered, bool clicked)>& dots);

}  // namespace gapscope
