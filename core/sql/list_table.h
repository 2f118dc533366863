#pragma once
// Tables whose rows are numbered from 0 and whose values are worked out row by row when asked for.
#include <memory>
#include <optional>
#include <vector>

#include "core/sql/virtual_table.h"

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

}  // namespace gapscope::sql
