#include "ui/widgets/column_grid.h"

#include <algorithm>
#include <utility>

#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

struct Width {
  float chars;
  int unit_chars;
};

Width width_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::text:
    case Quantity::symbol: return {14, 2};
    case Quantity::flag: return {6, 2};
    case Quantity::id:
    case Quantity::count:
    case Quantity::real: return {8, 0};
    case Quantity::ratio: return {7, 0};
    case Quantity::share:
    case Quantity::percent: return {9, 1};
    default: return {10, 2};
  }
}

std::uint64_t bit_of_column(std::size_t column) { return std::uint64_t{1} << column; }
bool has_bit(std::uint64_t bits, std::size_t column) { return (bits & bit_of_column(column)) != 0; }

GridColumn grid_column(const ColumnHead& head, bool is_first, bool wanted) {
  const auto [chars, unit_chars] = width_of(head.quantity);
  GridColumn out{head.title, head.help};
  out.chars = head.ways.chars >= 0 ? head.ways.chars : is_first ? 0 : chars;
  out.number = is_number(head.quantity);
  out.painted = head.ways.painted;
  out.unit_chars = unit_chars;
  out.spare = wanted ? 0 : head.ways.spare;
  return out;
}

GridCell grid_cell(CellText&& cell) { return {std::move(cell.text), std::move(cell.hover), cell.share, cell.muted}; }

}  // namespace

GridClick draw_column_grid(const ColumnGrid& of, const WindowState& window) {
  const TableRows& table = of.table;
  std::vector<std::size_t> seen;
  std::vector<GridColumn> columns;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    if (!is_shown(table, of.look, c)) continue;
    columns.push_back(grid_column(table.head(c), seen.empty(), has_bit(of.look.wanted, c)));
    seen.push_back(c);
  }
  const RowOrder order = order_of(table, of.look);
  Grid grid;
  grid.id = of.id;
  grid.columns = columns;
  grid.rows = of.rows.size();
  grid.width_px = of.width_px;
  grid.descending = order.descending;
  grid.sorted_by = seen.size();
  if (of.sorts) grid.sorted_by = static_cast<std::size_t>(std::find(seen.begin(), seen.end(), order.column) - seen.begin());
  if (of.selected) {
    const auto at = std::find(of.rows.begin(), of.rows.end(), *of.selected);
    if (at != of.rows.end()) grid.selected = at - of.rows.begin();
  }
  grid.cell = [&](std::size_t row, std::size_t column) {
    GridCell cell = grid_cell(table.text(of.rows[row], seen[column]));
    if (of.adorn) of.adorn(cell, of.rows[row], seen[column]);
    return cell;
  };
  if (of.paint) grid.paint = [&](std::size_t row, const Box& box) { of.paint(of.rows[row], box); };
  if (table.head(0).quantity == Quantity::symbol)
    grid.whole_name = [&](std::size_t row) { return display(table.value(of.rows[row], 0), Quantity::symbol); };
  if (of.noun)
    grid.total = [&](std::size_t column) {
      GridCell cell = grid_cell(total_of(table, of.rows, seen[column], of.noun));
      if (of.total) of.total(seen[column], cell);
      return cell;
    };
  const GridClick click = draw_grid(grid, window);
  of.look.left_out = 0;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (has_bit(click.left_out, i)) of.look.left_out |= bit_of_column(seen[i]);
  if (click.header >= 0 && of.sorts)
    of.look.order = order_after_click(table, of.look, seen[static_cast<std::size_t>(click.header)]);
  return click;
}

void draw_columns_menu(const TableRows& table, TableLook& look, const WindowState& window) {
  if (ImGui::Button("Columns")) ImGui::OpenPopup("columns");
  draw_hover("Show more columns, or fewer.");
  if (!ImGui::BeginPopup("columns")) return;
  for (std::size_t c = 1; c < table.columns(); ++c) {
    if (!table.is_in(c, kInGrid)) continue;
    const bool shown = is_shown(table, look, c), fits = !has_bit(look.left_out, c);
    bool on = shown && fits;
    if (draw_checkbox(table.head(c).title, &on)) {
      if (on != shown) look.toggled ^= bit_of_column(c);
      look.wanted = on ? look.wanted | bit_of_column(c) : look.wanted & ~bit_of_column(c);
    }
    draw_hover(table.head(c).help);
    if (!shown || fits) continue;
    ImGui::SameLine();
    draw_text(Face::sans, theme_of(window).muted, "no room");
    draw_hover("The table is too narrow for it. A click shows it anyway.");
  }
  ImGui::EndPopup();
}

}  // namespace gapscope
