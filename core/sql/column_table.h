#pragma once
// Tables of SQL made from columns (core/base/table/columns.h): those that are there for SQL, by their ids. And what they are
// made of: tables whose rows are numbered from 0 and whose values are worked out row by row when asked for.
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/table/columns.h"
#include "core/sql/virtual_table.h"
#include "core/sql/world.h"

namespace gapscope::sql {

class RowList {
 public:
  virtual ~RowList() = default;
  // Called before everything else, each time that a query begins to read. What it makes it makes once.
  virtual std::optional<Error> prepare() { return std::nullopt; }
  virtual std::uint32_t rows() = 0;
  // NULL where it gives nothing.
  virtual void give_value(sqlite3_context* out, std::uint32_t row, int column) = 0;

  // Columns that rows can be found by: about how many a value has; 0: none can be found so.
  virtual double rows_with_value(int) const { return 0; }
  virtual std::vector<std::uint32_t> find(int column, std::int64_t value);
  // About how many rows there are, without making them.
  virtual double about_rows() const { return 1000; }
};

std::unique_ptr<Table> list_table(const char* name, const char* meaning, std::span<const ColumnInfo> columns,
                                  std::unique_ptr<RowList> rows);

void give_cell(sqlite3_context* out, const CellValue& value);
ColumnInfo info_of(const ColumnHead& head);

class ColumnRows : public RowList {
 public:
  using Make = std::function<std::unique_ptr<TableRows>()>;
  // `make` is called when a query first reads.
  template <class Column>
  ColumnRows(std::span<const Column> columns, Make make, double about_rows = 1000)
      : make_(std::move(make)), about_rows_(about_rows) {
    for (const ColumnHead& head : columns) add(head);
  }
  std::span<const ColumnInfo> infos() const { return infos_; }

  std::optional<Error> prepare() override;
  std::uint32_t rows() override { return static_cast<std::uint32_t>(table_->rows()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override { give_cell(out, value(row, column)); }
  double about_rows() const override { return about_rows_; }

 protected:
  std::string_view id_of(int column) const { return infos_[static_cast<std::size_t>(column)].name; }
  CellValue value(std::uint32_t row, int column) const;

 private:
  void add(const ColumnHead& head);

  Make make_;
  double about_rows_;
  std::vector<ColumnInfo> infos_;
  std::vector<std::size_t> places_;  // in the list of columns
  std::size_t heads_ = 0;
  std::unique_ptr<TableRows> table_;
};

std::unique_ptr<Table> column_table(const char* name, const char* meaning, std::unique_ptr<ColumnRows> rows);

// `rows`: a list, or a span of one that outlives the table.
template <class Row, class Context, std::size_t N, class Rows>
std::unique_ptr<TableRows> rows_of(const ColumnOf<Row, Context> (&columns)[N], const Context& context, Rows rows) {
  const std::size_t count = rows.size();
  const auto at = [rows = std::move(rows)](std::size_t i) -> const Row& { return rows[i]; };
  return std::make_unique<RowsOf<Row, Context, decltype(at)>>(columns, context, count, at);
}

// `make` gives the rows, as rows_of() takes them.
template <class Row, class Context, std::size_t N, class Make>
std::unique_ptr<Table> column_table(const char* name, const char* meaning, const ColumnOf<Row, Context> (&columns)[N],
                                    const Context& context, Make make, double about_rows = 1000) {
  using Columns = std::span<const ColumnOf<Row, Context>>;
  const auto table = [&columns, context, make] { return rows_of(columns, context, make()); };
  return column_table(name, meaning, std::make_unique<ColumnRows>(Columns(columns), table, about_rows));
}

// What the values of most tables need besides their row. NULL: no slice.
struct InWorld {
  World& world;
  const Trace& trace() const { return world.trace(); }
  CellValue id(SliceId slice) const { return slice ? CellValue(world.order().id(slice)) : CellValue(); }
  CellValue name(SliceId slice) const { return slice ? CellValue(trace().name(slice)) : CellValue(); }
};
// Of columns that are always NULL.
template <class Context, class Row>
CellValue null(const Context&, const Row&) {
  return {};
}

}  // namespace gapscope::sql
