#pragma once
// The grid of a table of columns: widths by what the columns hold, sorting by a click on a header, totals, hidden columns, CSV.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/table/output.h"
#include "core/view/table/table_look.h"
#include "ui/requests.h"
#include "ui/widgets/grid.h"

namespace gapscope {

struct ColumnGrid {
  const char* id;
  const TableRows& table;
  const std::vector<std::uint32_t>& rows;  // of arrange()
  TableLook& look;
  std::optional<std::uint32_t> selected = {};                          // row of the table
  const char* noun = nullptr;                                          // of the line of totals: "names"; null: there is none
  bool sorts = true;                                                   // false: the rows stand in an order of their own
  float width_px = 0;                                                  // as Grid has it
  std::function<void(std::size_t column, GridCell& cell)> total = {};  // where the sum of a column is not that of its cells
  // Colours, and what else is no matter of the values.
  std::function<void(GridCell& cell, std::uint32_t row, std::size_t column)> adorn = {};
  std::function<void(std::uint32_t row, const Box& box)> paint = {};  // of the painted column
};

// What was clicked, a header aside: rows as positions in `rows`.
GridClick draw_column_grid(const ColumnGrid& grid, const WindowState& window);
// A button "Columns" with a menu of those that can be shown and hidden; says which have no room.
void draw_columns_menu(const TableRows& table, TableLook& look, const WindowState& window);

}  // namespace gapscope
