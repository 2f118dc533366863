#include "ui/counters/roof_chart.h"

#include <algorithm>
#include <cmath>

namespace gapscope {
namespace {

std::size_t room_for(float length, float each) { return static_cast<std::size_t>(std::max(length / each, 1.0f)); }

void draw_scales(Painter& painter, const RoofPlace& at, const Theme& theme) {
  const float letter = painter.text_width(Face::mono, "0"), line = ImGui::GetTextLineHeight();
  for (const double tick : at.chart.per_byte.ticks(room_for(at.box.width(), 7 * letter))) {
    const float x = std::round(at.x(tick));
    painter.line_y(x, at.box.y0, at.box.y1, colour(theme.line));
    const std::string text = tick_text(tick);
    const float width = painter.text_width(Face::mono, text);
    painter.text(Face::mono, {std::clamp(x - width / 2, at.box.x0, at.box.x1 - width), at.box.y1 + painter.px(2)},
                 colour(theme.muted), text);
  }
  for (const double tick : at.chart.per_second.ticks(room_for(at.box.height(), line * 1.3f))) {
    const float y = std::round(at.y(tick));
    painter.line_x(y, at.box.x0, at.box.x1, colour(theme.line));
    const std::string text = tick_text(tick);
    painter.text(Face::mono,
                 {at.box.x0 - painter.px(5) - painter.text_width(Face::mono, text),
                  std::clamp(y - line / 2, at.box.y0, at.box.y1 - line)},
                 colour(theme.muted), text);
  }
}

void draw_roofs(Painter& painter, const RoofPlace& at, const Theme& theme) {
  const LogAxis& x = at.chart.per_byte;
  const float thick = painter.px(1.5f);
  const auto line = [&](double x0, double y0, double x1, double y1) {
    painter.list().AddLine({at.x(x0), at.y(y0)}, {at.x(x1), at.y(y1)}, colour(theme.muted), thick);
  };
  const std::optional<double> bytes = at.chart.bytes_per_second;
  float label = at.box.y0;  // where the next name may begin: roofs of near heights have theirs below each other
  for (const RooflineChart::Roof& roof : at.chart.roofs) {
    const double ridge = bytes ? roof.per_second / *bytes : x.low;
    line(std::max(ridge, x.low), roof.per_second, x.high, roof.per_second);
    const float width = painter.text_width(Face::sans, roof.name);
    label = std::max(label, at.y(roof.per_second) - ImGui::GetTextLineHeight() - painter.px(2));
    painter.text(Face::sans, {at.box.x1 - width - painter.px(4), label}, colour(theme.text), roof.name);
    label += ImGui::GetTextLineHeight();
  }
  if (!bytes) return;
  const double top = at.chart.roofs.empty() ? at.chart.per_second.high : at.chart.roofs.front().per_second;
  line(x.low, x.low * *bytes, top / *bytes, top);
  const std::string name = "DRAM " + rate_text(*bytes, "B/s");
  const double middle = std::sqrt(x.low * top / *bytes);  // of the slope, on its scale
  painter.text(Face::sans, {at.x(middle) + painter.px(10), at.y(middle * *bytes) + painter.px(2)}, colour(theme.text), name);
}

}  // namespace

void draw_roof_chart(const RooflineChart& chart, const ViewState& view,
                     const std::function<void(Painter& painter, const RoofPlace& at, bool hovered, bool clicked)>& dots) {
  const Theme& theme = theme_of(view.theme);
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  Painter painter(*ImGui::GetWindowDrawList(), view.scale);
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = std::max(ImGui::GetContentRegionAvail().y - ImGui::GetTextLineHeight() - painter.px(4), painter.px(80));
  const bool clicked = ImGui::InvisibleButton("roofs", {std::max(width, 1.0f), height});
  const bool hovered = ImGui::IsItemHovered();
  const float gutter = painter.text_width(Face::mono, "000 T") + painter.px(8);
  const RoofPlace at{chart, {begin.x + gutter, begin.y, begin.x + std::max(width, gutter + 1), begin.y + height}};
  painter.fill(at.box, colour(theme.background));
  draw_scales(painter, at, theme);
  painter.clip(at.box);
  draw_roofs(painter, at, theme);
  dots(painter, at, hovered, clicked);
  painter.unclip();
}

}  // namespace gapscope
