#pragma once
// Columns by their ids, as tests name them.
#include <cstddef>
#include <string_view>

#include "core/base/table/columns.h"
#include "core/view/table/row_order.h"

namespace gapscope::test {

inline std::size_t column_of(const TableRows& table, std::string_view id) {
  std::size_t column = 0;
  while (column < table.columns() && id != table.head(column).id) ++column;
  return column;
}
inline RowOrder by(const TableRows& table, std::string_view id, bool descending) { return {column_of(table, id), descending}; }

}  // namespace gapscope::test
