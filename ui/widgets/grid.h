#pragma once
// A table that can be long: only the rows in sight are drawn, headers sort by click, numbers stand under each other with
// their units apart, a line of totals stays at the bottom. Knows nothing of what it shows.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/view/view_state.h"
#include "ui/timeline/painter.h"

namespace gapscope {

struct GridColumn {
  const char* title;
  const char* help;      // one sentence, as tooltip
  float chars = 0;       // width in digits; 0 for the one column that takes the rest
  bool number = false;   // right-aligned; the last word is a unit
  bool painted = false;  // Grid::paint draws it; takes the rest where `chars` is 0
  int unit_chars = 2;    // reserved for units, so that digits stand under each other
  int spare = 0;         // above 0: left out where the table is narrow, the highest first; a menu in the header has it
};

struct GridCell {
  std::string text;
  std::string hover;  // the whole of it, or the exact figure
  float share = 0;    // 0..1: a quiet bar behind the number
  bool muted = false;
  std::optional<Rgb> ink = {};  // of the text, where it means something
};

struct Grid {
  const char* id;
  std::span<const GridColumn> columns;
  std::size_t rows = 0;
  std::int64_t selected = -1;
  std::size_t sorted_by = 0;
  bool descending = true;
  float width_px = 0;  // of the display; 0: all there is
  std::function<GridCell(std::size_t row, std::size_t column)> cell;
  std::function<std::string(std::size_t row)> whole_name;      // may be empty; shown where rows in sight have the same name
  std::function<GridCell(std::size_t column)> total;           // may be empty
  std::function<void(std::size_t row, const Box& box)> paint;  // of the painted column
};

// What was clicked in this frame; -1 for nothing.
struct GridClick {
  std::int64_t row = -1;
  std::int64_t header = -1;
  std::int64_t menu = -1;      // row, by the right button
  std::uint64_t left_out = 0;  // a bit a column: not drawn, for lack of room or by the menu in the header
};

// Fills the rest of the current window.
GridClick draw_grid(const Grid& grid, const WindowState& window);

}  // namespace gapscope
