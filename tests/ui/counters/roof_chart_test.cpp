// Where the names of a roofline chart stand: no kernel can be there, and none is over another.
#include "ui/counters/roof_chart.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

using namespace gapscope;

namespace {

constexpr float kLetter = 8, kLine = 14;

float width_of(std::string_view text) { return kLetter * static_cast<float>(text.size()); }

RooflineChart chart_of(std::vector<RooflineChart::Roof> roofs) {
  RooflineChart chart;
  chart.bytes_per_second = 3.35e12;
  chart.roofs = std::move(roofs);
  chart.per_byte = {0.05, 2000};
  chart.per_second = {1e7, 3e15};
  return chart;
}

// Px under which a kernel may lie at x: the slope, or the roof.
float reachable(const RoofPlace& at, const RooflineChart::Roof& roof, float x) {
  const double share = static_cast<double>((x - at.box.x0) / at.box.width());
  const double per_byte = at.chart.per_byte.low * std::pow(at.chart.per_byte.high / at.chart.per_byte.low, share);
  return at.y(std::min(per_byte * *at.chart.bytes_per_second, roof.per_second));
}

}  // namespace

TEST_CASE("names of roofs stand where no kernel can be, and not over each other") {
  const RooflineChart chart =
      chart_of({{"fp16 990 TFLOP/s", 990e12}, {"tf32 495 TFLOP/s", 495e12}, {"fp32 67.0 TFLOP/s", 67e12}});
  for (const Box box : {Box{60, 0, 660, 160}, Box{60, 0, 1000, 500}, Box{60, 0, 270, 95}}) {
    const bool is_small = box.width() < 300;  // not all have room above the slope
    const RoofPlace at{chart, box};
    const std::vector<RoofName> names = roof_names(at, kLine, width_of);
    REQUIRE(names.size() == 4);
    for (const RoofName& name : names) {
      CAPTURE(name.text);
      CHECK((name.box.x0 >= box.x0 && name.box.x1 <= box.x1 && name.box.y0 >= box.y0 && name.box.y1 <= box.y1));
      const bool in_corner = is_small && name.box.y1 > (box.y0 + box.y1) / 2;
      for (const float x : {name.box.x0, (name.box.x0 + name.box.x1) / 2, name.box.x1})
        CHECK((in_corner || name.box.y1 <= reachable(at, chart.roofs.front(), x)));
      for (const RoofName& other : names)
        if (&other != &name)
          CHECK_FALSE((name.box.x0 < other.box.x1 && other.box.x0 < name.box.x1 && name.box.y0 < other.box.y1 &&
                       other.box.y0 < name.box.y1));
    }
  }
}

TEST_CASE("names of roofs that stand in one line are apart from each other") {
  const RooflineChart chart = chart_of({{"tf32 495 TFLOP/s", 495e12}, {"fp32 67.0 TFLOP/s", 67e12}});
  const std::vector<RoofName> names = roof_names({chart, {60, 0, 660, 120}}, kLine, width_of);
  REQUIRE(names.size() == 3);
  for (const RoofName& name : names)
    for (const RoofName& other : names)
      if (name.box.x0 < other.box.x0 && name.box.y0 < other.box.y1 && other.box.y0 < name.box.y1)
        CHECK(other.box.x0 - name.box.x1 >= kLine);
}

TEST_CASE("without a memory rate or a roof there is nothing of it to name") {
  RooflineChart chart = chart_of({{"fp32 67.0 TFLOP/s", 67e12}});
  chart.bytes_per_second.reset();
  REQUIRE(roof_names({chart, {60, 0, 660, 160}}, kLine, width_of).size() == 1);
  const RooflineChart slope = chart_of({});
  REQUIRE(roof_names({slope, {60, 0, 660, 160}}, kLine, width_of).size() == 1);
}
