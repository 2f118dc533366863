#pragma once
// How a table of columns is looked at (core/base/table/columns.h): which rows, in which order, which columns.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/table/columns.h"
#include "core/view/table/row_order.h"

namespace gapscope {

struct TableLook {
  std::string filter = {};             // of names and words, whatever their case
  std::optional<RowOrder> order = {};  // none: the table's own
  std::uint64_t toggled = 0;           // a bit a column: shown though it usually is hidden, or the other way round
  std::uint64_t wanted = 0;            // shown by the person: stays where others give way for lack of room
  std::uint64_t left_out = 0;          // to be shown, yet not drawn in the last frame: there was no room. Written by the grid
  friend bool operator==(const TableLook&, const TableLook&) = default;
};

// What of it holds of another document's rows, too: the order and the columns.
inline TableLook columns_of(const TableLook& look) { return {{}, look.order, look.toggled, look.wanted}; }

// The order that holds: past all columns where the rows stand as they were made.
RowOrder order_of(const TableRows& table, const TableLook& look);
// The order after a click on the header of a column (order_by). A difference begins with what fell most, continues to what grew
// most, and then back to the table's own order, which is by what changed most, whichever way.
std::optional<RowOrder> order_after_click(const TableRows& table, const TableLook& look, std::size_t column);
bool is_shown(const TableRows& table, const TableLook& look, std::size_t column);
// Positions of the rows that pass the filter, in the order; equal ones keep their places. Not sorted: they stand as they were
// made.
std::vector<std::uint32_t> arrange(const TableRows& table, const TableLook& look, bool sorted = true);

// The rows as they are looked at, cached until the answer that they are of, the list of it, or the look is another.
struct ArrangedRows {
  std::shared_ptr<const void> of;
  std::size_t list = 0;
  TableLook look;
  std::vector<std::uint32_t> rows;
  // Whether they have to be made anew: `of`, `list` and `look` are then taken over.
  bool is_other(const std::shared_ptr<const void>& other, std::size_t other_list, const TableLook& other_look);
};
// What is below a column: sums, and in the first one how many rows there are ("3 of 12 names").
CellText total_of(const TableRows& table, const std::vector<std::uint32_t>& rows, std::size_t column, const char* noun);

}  // namespace gapscope
