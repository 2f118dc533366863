#pragma once
// Small charts in the colours of the theme. Each takes a place of the given size in the current window, draws no more
// than its pixels can show, and answers what the pointer is on.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/base/time.h"
#include "core/view/timeline/rgb.h"
#include "core/view/view_state.h"
#include "ui/timeline/painter.h"

namespace gapscope {

struct ChartPoint {
  Ns time = 0;
  double value = 0;
};

// Where the pointer is, and whether it clicked there; nothing when it is elsewhere.
struct ChartPointer {
  Ns time = 0;
  double value = 0;
  bool clicked = false;
};

struct ChartFrame {
  const char* id;
  ImVec2 size{};            // px of the display
  std::string title;        // above the chart
  std::string low, high;    // under its left and right end
  std::string most = {};    // at the left of the plot: what the highest value is; half of it has a line, too
  std::string least = "0";  // below it: what the axis begins at
};

// Bars side by side; `marked` in the bright colour. `hover` says what the tooltip shows of a bar.
void draw_bars(const ChartFrame& frame, std::span<const std::uint64_t> counts, std::optional<std::size_t> marked,
               const WindowState& window, const std::function<std::string(std::size_t)>& hover);

// Dots at begin and value; more than fit are folded into one stroke a column, from least to most.
std::optional<ChartPointer> draw_dots(const ChartFrame& frame, std::size_t count, Span span, double most,
                                      const std::function<ChartPoint(std::size_t)>& point, std::optional<ChartPoint> marked,
                                      const WindowState& window);

// A value that holds until the next point; `colour` of the line and of the area under it. Over `span`.
struct ChartCurve {
  Rgb rgb;
  bool fill = false;
  std::function<ChartPoint(std::size_t)> point;
  std::size_t count = 0;
};
std::optional<ChartPointer> draw_curves(const ChartFrame& frame, std::span<const ChartCurve> curves, Span span, double most,
                                        std::optional<ChartPoint> marked, const WindowState& window);

// A value that something has of a whole for a while: [begin, end) and [low, high).
struct ChartBlock {
  Rgb rgb;
  Ns begin = 0, end = 0;
  double low = 0, high = 0;
  std::uint32_t chosen = 0;  // those of one number have an outline around them
};
// Blocks that touch each other are distinguished by a line where there is room; none is drawn that is less than half a pixel
// high, but for the outlines of the chosen ones.
std::optional<ChartPointer> draw_blocks(const ChartFrame& frame, std::span<const ChartBlock> blocks, Span span, double most,
                                        const WindowState& window);

struct BarPart {
  Rgb rgb;
  double share = 0;  // of the box
};
// A bar of parts from left to right, gaps of a pixel between none; returns the part under the pointer.
std::optional<std::size_t> draw_stack(Painter& painter, const Box& box, std::span<const BarPart> parts);

// A coloured square and a word.
void draw_legend(Rgb rgb, std::string_view word, const WindowState& window);

}  // namespace gapscope
