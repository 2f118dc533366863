#pragma once
// The columns of a table, declared once next to the analysis that makes its rows. The tab's grid (ui/widgets/column_grid.h),
// CSV, the text of the command line, JSON (below) and the table of SQL (core/sql/column_table.h) are made from the same list:
//
//   constexpr ColumnOf<KernelRow, KernelContext> kColumns[] = {
//       {"total", "Total", "Sum of its durations.", Quantity::ns, &field<&KernelRow::total>, {.text = 9, .sum = true}},
//       ...
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/table/cell_value.h"

namespace gapscope {

// Where a column is shown, a bit each.
enum ColumnPlace : std::uint8_t { kInGrid = 1, kInCsv = 2, kInJson = 4, kInSql = 8, kInText = 16, kEverywhere = 31 };

// How a column is shown where it is not as its quantity says.
struct ColumnWays {
  std::uint8_t in = kEverywhere;
  const char* key = nullptr;   // in JSON and CSV; else the id with its unit: total_ns
  const char* csv = nullptr;   // CSV's own title
  int text = 0;                // letters in the text of the command line; 0: not there; below 0: at the line's end
  const char* head = nullptr;  // its title there; else the title in small letters
  float chars = -1;            // of the grid, in digits; 0: takes the rest
  int spare = 0;               // above 0: left out where the grid is narrow, the highest first
  bool hidden = false;         // in the grid, until it is asked for
  bool sorted = false;         // the rows come in its order until another is asked for
  bool ascends = false;        // that order begins with the least
  bool sum = false;            // has a total
  bool difference = false;     // with its sign; sorted by its size until its header is clicked
  bool painted = false;        // in the grid, whose `paint` draws it
  bool quiet = false;          // muted: the other columns say more
  bool unfiltered = false;     // a filter does not look at it
  const char* unit = nullptr;  // in SQL's schema, where it is not the quantity's
};

struct ColumnHead {
  const char* id;     // of SQL, and what a sort is asked for by
  const char* title;  // of the grid
  const char* help;   // one sentence: tooltip, .schema
  Quantity quantity;
  ColumnWays ways;
  bool is_in(ColumnPlace place) const { return (ways.in & place) != 0; }
};

// What a cell of the grid shows where that is more than its value.
struct CellText {
  std::string text = {};
  std::string hover = {};
  float share = 0;  // 0..1: a bar behind the number
  bool muted = false;
};
CellText usual_text(const CellValue& value, const ColumnHead& head);

// `Context` is what the values need besides their row: the trace, a whole to be a share of.
template <class Row, class Context>
struct ColumnOf : ColumnHead {
  using Value = CellValue (*)(const Context&, const Row&);
  using Text = CellText (*)(const Context&, const Row&);
  using Json = void (*)(const Context&, const Row&, nlohmann::ordered_json& out);
  constexpr ColumnOf(const char* id_, const char* title_, const char* help_, Quantity quantity_, Value value_,
                     ColumnWays ways_ = {}, Text text_ = nullptr, Json json_ = nullptr)
      : ColumnHead{id_, title_, help_, quantity_, ways_}, value(value_), text(text_), json(json_) {}
  // Of SQL alone.
  constexpr ColumnOf(const char* id_, Quantity quantity_, const char* help_, Value value_, const char* unit_ = nullptr)
      : ColumnOf(id_, id_, help_, quantity_, value_, {.in = kInSql, .unit = unit_}) {}
  Value value;
  Text text;  // null: usual_text()
  Json json;  // null: the value; of what is nested
};

// The value of a member: &field<&KernelRow::total>.
template <auto Member, class Context, class Row>
CellValue field(const Context&, const Row& row) {
  return CellValue(row.*Member);
}

// Rows and columns, whatever they are of: what grids, CSV, text and JSON are made from.
class TableRows {
 public:
  virtual ~TableRows() = default;
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return heads_.size(); }
  const ColumnHead& head(std::size_t column) const { return *heads_[column]; }
  bool is_in(std::size_t column, ColumnPlace place) const {
    return head(column).is_in(place) && (left_out_[column] & place) == 0;
  }
  virtual CellValue value(std::size_t row, std::size_t column) const = 0;
  virtual CellText text(std::size_t row, std::size_t column) const = 0;
  virtual void json(std::size_t row, std::size_t column, nlohmann::ordered_json& out) const = 0;

  // A column that this table has nothing for, there or anywhere.
  void leave_out(std::string_view id, std::uint8_t places = kEverywhere);

 protected:
  std::vector<const ColumnHead*> heads_;
  std::vector<std::uint8_t> left_out_;  // ColumnPlaces
  std::size_t rows_ = 0;
};

// `at(i)` gives row i, as a value or a reference.
template <class Row, class Context, class At>
class RowsOf final : public TableRows {
 public:
  using Column = ColumnOf<Row, Context>;
  RowsOf(std::span<const Column> columns, Context context, std::size_t rows, At at)
      : columns_(columns), context_(std::move(context)), at_(std::move(at)) {
    rows_ = rows;
    left_out_.resize(columns.size());
    for (const Column& column : columns) heads_.push_back(&column);
  }
  CellValue value(std::size_t row, std::size_t column) const override { return columns_[column].value(context_, at_(row)); }
  CellText text(std::size_t row, std::size_t column) const override {
    const Column& of = columns_[column];
    return of.text ? of.text(context_, at_(row)) : usual_text(of.value(context_, at_(row)), of);
  }
  void json(std::size_t row, std::size_t column, nlohmann::ordered_json& out) const override {
    const Column& of = columns_[column];
    of.json ? of.json(context_, at_(row), out) : put_json(of.value(context_, at_(row)), out);
  }

 private:
  std::span<const Column> columns_;
  Context context_;
  At at_;
};

// The rows of a list, which must outlive it.
template <class Row>
struct RowOfList {
  std::span<const Row> rows;
  const Row& operator()(std::size_t row) const { return rows[row]; }
};
template <class Row, class Context>
using ListRows = RowsOf<Row, Context, RowOfList<Row>>;
template <class Row, class Context, std::size_t N>
ListRows<Row, Context> table_of(std::span<const ColumnOf<Row, Context>, N> columns, std::type_identity_t<Context> context,
                                std::type_identity_t<std::span<const Row>> rows) {
  return {columns, std::move(context), rows.size(), {rows}};
}
template <class Row, class Context, std::size_t N>
ListRows<Row, Context> table_of(const ColumnOf<Row, Context> (&columns)[N], std::type_identity_t<Context> context,
                                std::type_identity_t<std::span<const Row>> rows) {
  return table_of(std::span<const ColumnOf<Row, Context>, N>(columns), std::move(context), rows);
}

// Position of a column in its list; the list's length where there is none.
template <class Columns>
constexpr std::size_t column_at(const Columns& columns, std::string_view id) {
  std::size_t at = 0;
  for (const ColumnHead& head : columns) {
    if (id == head.id) break;
    ++at;
  }
  return at;
}

}  // namespace gapscope
