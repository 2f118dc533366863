#include "app/cli/picture_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "app/cli/in_and_out.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

// Fractions of a pixel say nothing in a picture.
Json box_json(const Box& box) {
  const float x = std::floor(box.x0), y = std::floor(box.y0);
  return {std::lround(x), std::lround(y), std::lround(std::ceil(box.x1) - x), std::lround(std::ceil(box.y1) - y)};
}

Json number_or_null(std::int32_t number) { return number < 0 ? Json(nullptr) : Json(number); }

}  // namespace

std::string picture_json(const PictureLayout& layout) {
  Json rows = Json::array(), texts = Json::array(), panels = Json::array();
  for (const PictureRow& row : layout.rows) {
    rows.push_back({{"lane", row.lane},
                    {"kind", row_kind_name(row.kind)},
                    {"device", number_or_null(row.device)},
                    {"stream", number_or_null(row.stream)},
                    {"trace", row.trace == TraceSide::a ? "A" : "B"},
                    {"box", box_json(row.box)}});
  }
  for (const DrawnText& text : layout.texts)
    texts.push_back({{"text", text.text}, {"box", box_json(text.box)}, {"clipped", text.clipped}});
  for (const PanelPlace& panel : layout.panels) panels.push_back({{"name", panel.name}, {"box", box_json(panel.box)}});
  const Json all{
      {"size", {std::lround(layout.width), std::lround(layout.height)}}, {"rows", rows}, {"texts", texts}, {"panels", panels}};
  return json_text(all);
}

}  // namespace gapscope
