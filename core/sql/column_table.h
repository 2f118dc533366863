#pragma once
// A table of SQL made from columns (core/base/table/columns.h): those that are there for SQL, by their ids.
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/table/columns.h"
#include "core/sql/list_table.h"

namespace gapscope::sql {

void give(sqlite3_context* out, const CellValue& value);

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
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override;
  double about_rows() const override { return about_rows_; }

 protected:
  std::string_view id_of(int column) const { return infos_[static_cast<std::size_t>(column)].name; }

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

}  // namespace gapscope::sql
