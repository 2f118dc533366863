#include "core/view/table/table_look.h"

#include <algorithm>
#include <cmath>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/base/time.h"

namespace gapscope {
namespace {

std::vector<std::size_t> filtered_columns(const TableRows& table) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < table.columns(); ++c)
    if (table.is_in(c, kInGrid) && !is_number(table.head(c).quantity) && !table.head(c).ways.unfiltered) columns.push_back(c);
  return columns;
}

// What a column is sorted by: symbols by what people read; differences by their size until an order is chosen.
CellValue key_of_cell(const TableRows& table, const TableLook& look, std::size_t row, std::size_t column) {
  if (table.head(column).quantity == Quantity::symbol) return table.text(row, column).text;
  CellValue value = table.value(row, column);
  return table.head(column).ways.difference && !look.order ? CellValue(std::fabs(value.number())) : value;
}

bool holds(const TableRows& table, std::size_t row, std::size_t column, const std::string& filter) {
  const Quantity quantity = table.head(column).quantity;
  if (contains_ignore_case(plain(table.value(row, column), quantity), filter)) return true;
  return quantity == Quantity::symbol && contains_ignore_case(table.text(row, column).text, filter);
}

}  // namespace

RowOrder order_of(const TableRows& table, const TableLook& look) {
  if (look.order) return *look.order;
  for (std::size_t c = 0; c < table.columns(); ++c)
    if (const ColumnHead& head = table.head(c); head.ways.sorted) return {c, is_number(head.quantity) && !head.ways.ascends};
  return {table.columns(), false};
}

std::optional<RowOrder> order_after_click(const TableRows& table, const TableLook& look, std::size_t column) {
  const ColumnHead& head = table.head(column);
  RowOrder next = order_of(table, look);
  if (head.ways.difference && look.order && next == RowOrder{column, true}) return std::nullopt;
  if (head.ways.difference && next.column != column) return RowOrder{column, false};
  order_by(next, column, is_number(head.quantity));
  return next;
}

bool is_shown(const TableRows& table, const TableLook& look, std::size_t column) {
  const bool toggled = (look.toggled >> column & 1) != 0;
  return table.is_in(column, kInGrid) && (column == 0 || table.head(column).ways.hidden == toggled);
}

std::vector<std::uint32_t> arrange(const TableRows& table, const TableLook& look, bool sorted) {
  const std::vector<std::size_t> words = filtered_columns(table);
  const auto passes = [&](std::uint32_t row) {
    return look.filter.empty() ||
           std::any_of(words.begin(), words.end(), [&](std::size_t c) { return holds(table, row, c, look.filter); });
  };
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < table.rows(); ++row)
    if (passes(row)) rows.push_back(row);
  const RowOrder order = order_of(table, look);
  if (!sorted || order.column >= table.columns()) return rows;
  std::vector<CellValue> keys(table.rows());
  for (const std::uint32_t row : rows) keys[row] = key_of_cell(table, look, row, order.column);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return order.descending ? keys[b] < keys[a] : keys[a] < keys[b]; });
  return rows;
}

bool ArrangedRows::is_other(const std::shared_ptr<const void>& other, std::size_t other_list, const TableLook& other_look) {
  if (of == other && list == other_list && look == other_look) return false;
  of = other, list = other_list, look = other_look;
  return true;
}

CellText total_of(const TableRows& table, const std::vector<std::uint32_t>& rows, std::size_t column, const char* noun) {
  if (column == 0) {
    std::string all = format_count(static_cast<std::int64_t>(table.rows())) + " " + noun;
    if (table.rows() == 1) all.pop_back();  // "1 name"
    if (rows.size() == table.rows()) return {all, "", 0, true};
    return {format_count(static_cast<std::int64_t>(rows.size())) + " of " + all, "", 0, true};
  }
  if (!table.head(column).ways.sum) return {};
  Ns whole = 0;
  double real = 0;
  bool is_real = false;
  for (const std::uint32_t row : rows) {
    const CellValue value = table.value(row, column);
    if (const auto* number = value.get<std::int64_t>()) add_saturating(whole, *number);
    if (const auto* number = value.get<double>()) real += *number, is_real = true;
  }
  return {display(is_real ? CellValue(real) : CellValue(whole), table.head(column).quantity)};
}

}  // namespace gapscope
