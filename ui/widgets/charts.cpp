#include "ui/widgets/charts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kDot = 1.5f;
constexpr float kHeadroom = 6;
constexpr float kOutline = 2;             // px at scale 1
constexpr std::size_t kReachPoints = 16;  // looked at for the reach of a pixel column of many; its last one always is

struct Plot {
  Box box;
  bool hovered = false;
  bool clicked = false;
};

// Title above, what its axis begins and ends with at the left, the plot's frame, its ends below.
Plot begin_plot(const ChartFrame& frame, const WindowState& window) {
  const Theme& theme = theme_of(window);
  ImGui::BeginGroup();
  if (!frame.title.empty()) draw_text(Face::sans, theme.muted, frame.title);
  ImVec2 at = ImGui::GetCursorScreenPos();
  const float left = at.x;
  if (!frame.most.empty())
    at.x +=
        std::ceil(std::max(text_width(Face::mono, frame.most), text_width(Face::mono, frame.least))) + 6 * window.frame.scale;
  const float below = frame.low.empty() && frame.high.empty() ? 0 : ImGui::GetTextLineHeight();
  const float height =
      std::max(frame.size.y - below - (frame.title.empty() ? 0 : ImGui::GetTextLineHeightWithSpacing()), 24.0f);
  const float width = std::max(frame.size.x - (at.x - left), 24.0f);
  ImGui::SetCursorScreenPos(at);
  Plot plot;
  plot.box = {at.x, at.y, at.x + width, at.y + height};
  plot.clicked = ImGui::InvisibleButton(frame.id, {width, height});
  plot.hovered = ImGui::IsItemHovered();
  Painter painter(*ImGui::GetWindowDrawList(), window.frame.scale);
  painter.fill(plot.box, colour(theme.background));
  if (below > 0) {
    const ImVec2 cursor{at.x, plot.box.y1};
    ImGui::SetCursorScreenPos(cursor);
    ImGui::Dummy({width, 0});
    ImGui::SetCursorScreenPos(cursor);
    draw_text(Face::mono, theme.muted, frame.low);
    ImGui::SetCursorScreenPos({at.x + width - text_width(Face::mono, frame.high), cursor.y});
    draw_text(Face::mono, theme.muted, frame.high);
  }
  ImGui::EndGroup();
  return plot;
}

struct Axes {
  Box box;
  Span span;
  double most;
  float headroom;  // px above the highest value: room for a mark on it

  float x(Ns t) const {
    const double share = static_cast<double>(t - span.begin) / static_cast<double>(std::max<Ns>(span.length(), 1));
    return box.x0 + static_cast<float>(share) * box.width();
  }
  float y(double value) const {
    return box.y1 - static_cast<float>(most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0.0) * (box.height() - headroom) - 1;
  }
  Ns time(float px) const {
    const double share = static_cast<double>((px - box.x0) / std::max(box.width(), 1.0f));
    return span.begin + static_cast<Ns>(share * static_cast<double>(span.length()));
  }
  double value(float px) const {
    const double share = static_cast<double>((box.y1 - 1 - px) / std::max(box.height() - headroom, 1.0f));
    return share * most;
  }
};

std::optional<ChartPointer> pointer_of(const Plot& plot, const Axes& axes) {
  if (!plot.hovered) return std::nullopt;
  const ImVec2 at = ImGui::GetIO().MousePos;
  return ChartPointer{axes.time(at.x), axes.value(at.y), plot.clicked};
}

void draw_mark(Painter& painter, const Axes& axes, std::optional<ChartPoint> marked, const Theme& theme) {
  if (!marked) return;
  const ImVec2 at{axes.x(marked->time), axes.y(marked->value)};
  painter.line_y(std::floor(at.x), axes.box.y0, axes.box.y1, colour(theme.selection, 0.35f));
  painter.list().AddCircle(at, painter.px(4), colour(theme.selection), 12, painter.hairline() * 1.5f);
}

// Hairlines at the highest value and at half of it.
void draw_scale_lines(Painter& painter, const ChartFrame& frame, const Axes& axes, const Theme& theme) {
  if (frame.most.empty()) return;
  for (const double value : {axes.most, axes.most / 2})
    painter.line_x(std::floor(axes.y(value)), axes.box.x0, axes.box.x1, colour(theme.line));
}

// At the left of the plot what the highest value is, and what the axis begins at.
void draw_scale_ends(Painter& painter, const ChartFrame& frame, const Axes& axes, const Theme& theme) {
  if (frame.most.empty()) return;
  const float line = font_size(Face::mono), right = axes.box.x0 - painter.px(6);
  const auto write = [&](const std::string& text, float y) {
    painter.text_in(Face::mono, {right - painter.text_width(Face::mono, text), y, right + 1, y + line}, colour(theme.muted),
                    text);
  };
  write(frame.most, axes.box.y0);
  write(frame.least, axes.box.y1 - line);
}

// Of the chosen blocks: one line around those of one number that continue from each other.
void draw_outline(Painter& painter, const Axes& axes, std::span<const ChartBlock> blocks, const Theme& theme) {
  const float thick = std::max(1.0f, painter.px(kOutline));
  const Ns begin = axes.span.begin, end = axes.span.end;
  const ChartBlock* before = nullptr;
  const auto side = [&](float x, const Box& at) { painter.fill({x, at.y0, x + thick, at.y1}, colour(theme.selection)); };
  Box last;
  for (const ChartBlock& block : blocks) {
    if (block.chosen == 0 || block.end <= begin || block.begin >= end) continue;
    const float bottom = axes.y(block.low) + 1, top = std::min(axes.y(block.high), bottom - 2 * thick);
    const Box at{std::floor(axes.x(block.begin)), top,
                 std::max(std::floor(axes.x(block.end)), std::floor(axes.x(block.begin)) + thick), bottom};
    painter.fill({at.x0, at.y0, at.x1, at.y0 + thick}, colour(theme.selection));
    painter.fill({at.x0, at.y1 - thick, at.x1, at.y1}, colour(theme.selection));
    if (before && before->chosen == block.chosen && before->end == block.begin) {  // from one height to the next
      side(at.x0, {0, std::min(last.y0, at.y0), 0, std::max(last.y0, at.y0) + thick});
      side(at.x0, {0, std::min(last.y1, at.y1) - thick, 0, std::max(last.y1, at.y1)});
    } else {
      if (before && before->end < end) side(last.x1 - thick, last);
      if (block.begin > begin) side(at.x0, at);
    }
    before = &block;
    last = at;
  }
  if (before && before->end < end) side(last.x1 - thick, last);
}

// From least to most of a column of pixels.
struct Reach {
  double low = 0, high = 0;
  bool any = false;
  void add(double v) {
    low = any ? std::min(low, v) : v;
    high = any ? std::max(high, v) : v;
    any = true;
  }
};

}  // namespace

void draw_bars(const ChartFrame& frame, std::span<const std::uint64_t> counts, std::optional<std::size_t> marked,
               const WindowState& window, const std::function<std::string(std::size_t)>& hover) {
  const Theme& theme = theme_of(window);
  const Plot plot = begin_plot(frame, window);
  if (counts.empty()) return;
  Painter painter(*ImGui::GetWindowDrawList(), window.frame.scale);
  const std::uint64_t most = std::max<std::uint64_t>(1, *std::max_element(counts.begin(), counts.end()));
  const float step = plot.box.width() / static_cast<float>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const float x0 = std::floor(plot.box.x0 + step * static_cast<float>(i));
    const float x1 = std::max(std::floor(plot.box.x0 + step * static_cast<float>(i + 1)) - painter.hairline(), x0 + 1);
    const float share = static_cast<float>(static_cast<double>(counts[i]) / static_cast<double>(most));
    const float height = counts[i] > 0 ? std::max(std::round(share * (plot.box.height() - 4)), painter.px(2)) : 0;
    const bool hot = plot.hovered && Box{x0, plot.box.y0, x1 + 1, plot.box.y1}.holds(ImGui::GetIO().MousePos);
    const Rgb rgb = marked == i ? theme.notable : theme.accent;
    painter.fill({x0, plot.box.y1 - height, x1, plot.box.y1}, colour(hot ? blend(rgb, theme.text, 0.25f) : rgb));
    if (marked == i)  // shown by its shape as well
      painter.fill({x0, plot.box.y0, x1, plot.box.y0 + painter.px(3)}, colour(theme.notable));
    if (!hot) continue;
    draw_tooltip({plot.box.x0, plot.box.y0}, {plot.box.x1, plot.box.y1}, hover(i));
  }
}

std::optional<ChartPointer> draw_dots(const ChartFrame& frame, std::size_t count, Span span, double most,
                                      const std::function<ChartPoint(std::size_t)>& point, std::optional<ChartPoint> marked,
                                      const WindowState& window) {
  const Theme& theme = theme_of(window);
  const Plot plot = begin_plot(frame, window);
  Painter painter(*ImGui::GetWindowDrawList(), window.frame.scale);
  const Axes axes{plot.box, span, most, painter.px(kHeadroom)};
  painter.clip(plot.box);
  const auto columns = static_cast<std::size_t>(plot.box.width());
  if (count <= columns * 2) {
    for (std::size_t i = 0; i < count; ++i) {
      const ChartPoint p = point(i);
      const float x = axes.x(p.time), y = axes.y(p.value), half = kDot * painter.scale();
      painter.fill({x - half, y - half, x + half, y + half}, colour(theme.accent, 0.8f));
    }
  } else {
    std::vector<Reach> reach(columns + 1);
    for (std::size_t i = 0; i < count; ++i) {
      const ChartPoint p = point(i);
      reach[static_cast<std::size_t>(std::clamp(axes.x(p.time) - plot.box.x0, 0.0f, static_cast<float>(columns)))].add(p.value);
    }
    for (std::size_t c = 0; c < reach.size(); ++c) {
      if (!reach[c].any) continue;
      const float x = plot.box.x0 + static_cast<float>(c);
      painter.fill({x, axes.y(reach[c].high), x + 1, axes.y(reach[c].low) + painter.px(2)}, colour(theme.accent, 0.8f));
    }
  }
  draw_mark(painter, axes, marked, theme);
  painter.unclip();
  return pointer_of(plot, axes);
}

std::optional<ChartPointer> draw_curves(const ChartFrame& frame, std::span<const ChartCurve> curves, Span span, double most,
                                        std::optional<ChartPoint> marked, const WindowState& window) {
  const Theme& theme = theme_of(window);
  const Plot plot = begin_plot(frame, window);
  Painter painter(*ImGui::GetWindowDrawList(), window.frame.scale);
  const Axes axes{plot.box, span, most, painter.px(kHeadroom)};
  painter.clip(plot.box);
  const auto columns = static_cast<std::size_t>(plot.box.width());
  for (const ChartCurve& curve : curves) {
    // Of each column of pixels the reach of the value; a column without a point continues with the value before.
    std::size_t next = 0;
    double value = 0;
    bool known = false;
    for (std::size_t c = 0; c < columns; ++c) {
      const Ns until = axes.time(plot.box.x0 + static_cast<float>(c + 1));
      Reach reach;
      if (known) reach.add(value);
      const std::size_t before = next;
      // The first point at or after `until`, which is near: steps that double, then halves.
      std::size_t low = next, step = 1;
      while (low + step < curve.count && curve.point(low + step).time < until) low += step, step *= 2;
      std::size_t high = std::min(low + step, curve.count);
      while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (curve.point(middle).time < until)
          low = middle + 1;
        else
          high = middle;
      }
      next = low;
      const std::size_t stride =
          std::max<std::size_t>(1, (next - before) / kReachPoints);  // enough to see the reach of a pixel
      for (std::size_t i = before; i < next; i += stride) reach.add(curve.point(i).value);
      if (next > before) value = curve.point(next - 1).value, known = true, reach.add(value);
      if (!reach.any) continue;
      const float x = plot.box.x0 + static_cast<float>(c);
      if (curve.fill) painter.fill({x, axes.y(reach.high), x + 1, plot.box.y1}, colour(curve.rgb, 0.25f));
      painter.fill({x, axes.y(reach.high), x + 1, axes.y(reach.low) + painter.px(1.5f)}, colour(curve.rgb));
    }
  }
  draw_scale_lines(painter, frame, axes, theme);
  draw_mark(painter, axes, marked, theme);
  painter.unclip();
  draw_scale_ends(painter, frame, axes, theme);
  return pointer_of(plot, axes);
}

std::optional<ChartPointer> draw_blocks(const ChartFrame& frame, std::span<const ChartBlock> blocks, Span span, double most,
                                        const WindowState& window) {
  const Theme& theme = theme_of(window);
  const Plot plot = begin_plot(frame, window);
  Painter painter(*ImGui::GetWindowDrawList(), window.frame.scale);
  const Axes axes{plot.box, span, most, painter.px(kHeadroom)};
  const float line = painter.hairline();
  painter.clip(plot.box);
  for (const ChartBlock& block : blocks) {
    const float top = axes.y(block.high), bottom = axes.y(block.low) + 1;
    if (bottom - top < 1.5f || block.end <= span.begin || block.begin >= span.end) continue;
    const float x0 = std::floor(axes.x(block.begin)), x1 = std::max(std::floor(axes.x(block.end)), x0 + 1);
    const float gap = bottom - top > line * 4 ? line : 0;
    painter.fill({x0, top + gap, x1, bottom}, colour(block.rgb));
  }
  draw_outline(painter, axes, blocks, theme);
  draw_scale_lines(painter, frame, axes, theme);
  painter.unclip();
  draw_scale_ends(painter, frame, axes, theme);
  return pointer_of(plot, axes);
}

std::optional<std::size_t> draw_stack(Painter& painter, const Box& box, std::span<const BarPart> parts) {
  std::optional<std::size_t> under;
  double done = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const float x0 = std::round(box.x0 + static_cast<float>(done) * box.width());
    done += parts[i].share;
    const float x1 = std::round(box.x0 + static_cast<float>(done) * box.width());
    if (x1 <= x0) continue;
    painter.fill({x0, box.y0, x1, box.y1}, colour(parts[i].rgb));
    if (Box{x0, box.y0, x1, box.y1}.holds(ImGui::GetIO().MousePos)) under = i;
  }
  return under;
}

void draw_legend(Rgb rgb, std::string_view word, const WindowState& window) {
  const float line = ImGui::GetTextLineHeight();
  const float size = std::round(line * 0.65f);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float top = at.y + std::round((line - size) / 2);
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + size, top + size}, colour(rgb), window.frame.scale);
  ImGui::Dummy({size, line});
  ImGui::SameLine(0, 5 * window.frame.scale);
  draw_text(Face::sans, theme_of(window).muted, word);
}

}  // namespace gapscope
