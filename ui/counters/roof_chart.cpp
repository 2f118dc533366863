#include "ui/counters/roof_chart.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace gapscope {
namespace {

constexpr float kPlateAlpha = 0.7f;

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

// From which operations a byte on a roof can be reached.
double roof_ridge(const RoofPlace& at, const RooflineChart::Roof& roof) {
  return at.chart.bytes_per_second ? roof.per_second / *at.chart.bytes_per_second : at.chart.per_byte.low;
}

double highest_roof(const RooflineChart& chart) {
  return chart.roofs.empty() ? chart.per_second.high : chart.roofs.front().per_second;
}

void draw_roofs(Painter& painter, const RoofPlace& at, const Theme& theme) {
  const LogAxis& x = at.chart.per_byte;
  const float thick = painter.px(1.5f);
  const auto line = [&](double x0, double y0, double x1, double y1) {
    painter.list().AddLine({at.x(x0), at.y(y0)}, {at.x(x1), at.y(y1)}, colour(theme.muted), thick);
  };
  const std::optional<double> bytes = at.chart.bytes_per_second;
  for (const RooflineChart::Roof& roof : at.chart.roofs)
    line(std::max(roof_ridge(at, roof), x.low), roof.per_second, x.high, roof.per_second);
  if (!bytes) return;
  const double top = highest_roof(at.chart);
  line(x.low, x.low * *bytes, top / *bytes, top);
}

bool boxes_overlap(const Box& a, const Box& b) { return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1; }

// Over the dots: one may reach above what bounds it.
void draw_names(Painter& painter, const RoofPlace& at, const Theme& theme) {
  const auto width_of = [&](std::string_view text) { return painter.text_width(Face::sans, text); };
  for (const RoofName& name : roof_names(at, ImGui::GetTextLineHeight(), width_of)) {
    painter.fill(name.box, colour(theme.background, kPlateAlpha));
    painter.text(Face::sans, {name.box.x0, name.box.y0}, colour(theme.text), name.text);
  }
}

}  // namespace

std::vector<RoofName> roof_names(const RoofPlace& at, float line, const std::function<float(std::string_view)>& width_of) {
  std::vector<RoofName> names;
  const float gap = std::round(line / 6), apart = std::round(1.5f * line);  // names in one line do not read as one
  float corner = at.box.y1 - gap;                                           // where the next of those ends that have no room
  // Of places that end at the right and at the bottom, the first that has room.
  const auto add = [&](const std::string& text, const std::vector<ImVec2>& ends) {
    const float width = width_of(text);
    for (const ImVec2 end : ends) {
      const Box box{end.x - width, end.y - line, end.x, end.y};
      const bool inside = box.x0 >= at.box.x0 && box.y0 >= at.box.y0 && box.x1 <= at.box.x1;
      const auto covers = [&](const RoofName& other) { return boxes_overlap(other.box, box); };
      if (inside && std::none_of(names.begin(), names.end(), covers)) return names.push_back({text, box});
    }
    names.push_back({text, {at.box.x1 - gap - width, corner - line, at.box.x1 - gap, corner}});
    corner -= line;
  };
  // What ends in this height is above the slope left of here.
  const auto slope_at = [&](float y) {
    const double share = static_cast<double>((at.box.y1 - y) / std::max(at.box.height(), 1.0f));
    const double per_second = at.chart.per_second.low * std::pow(at.chart.per_second.high / at.chart.per_second.low, share);
    return at.chart.bytes_per_second ? at.x(per_second / *at.chart.bytes_per_second) - gap : at.box.x1;
  };
  const auto add_roof = [&](const RooflineChart::Roof& roof) {
    const bool from_the_edge = roof_ridge(at, roof) <= at.chart.per_byte.low;  // there is no slope before it
    const float x = from_the_edge ? at.box.x0 + gap + width_of(roof.name) : at.x(roof_ridge(at, roof));
    const float y = std::max(at.y(roof.per_second) - gap, at.box.y0 + line);
    std::vector<ImVec2> ends{{std::min(x, slope_at(y)), y}};
    for (const RoofName& other : names) {
      const float above = other.box.y0 - gap;
      ends.push_back({std::min(x, slope_at(above)), above});
      ends.push_back({std::min(other.box.x0 - apart, slope_at(y)), y});  // left of it
    }
    add(roof.name, ends);
  };
  for (const RooflineChart::Roof& roof : at.chart.roofs) add_roof(roof);
  if (at.chart.bytes_per_second) {
    const double bytes = *at.chart.bytes_per_second, low = at.chart.per_byte.low * bytes, top = highest_roof(at.chart);
    std::vector<ImVec2> ends;
    for (const double share : {0.5, 0.4, 0.6, 0.3, 0.2, 0.7, 0.8}) {  // of the slope, on its scale
      const double per_second = low * std::pow(top / low, share);
      ends.push_back({at.x(per_second / bytes) - gap, at.y(per_second) - gap});
    }
    add("DRAM " + rate_text(bytes, "B/s"), ends);
  }
  return names;
}

void draw_roof_chart(const RooflineChart& chart, const WindowState& window,
                     const std::function<void(Painter& painter, const RoofPlace& at, bool hovered, bool clicked)>& dots) {
  const Theme& theme = theme_of(window);
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  Painter painter(*ImGui::GetWindowDrawList(), window.frame.scale);
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
  draw_names(painter, at, theme);
  painter.unclip();
}

}  // namespace gapscope
