#pragma once
// Tables that are functions of a slice id, as ancestor_slice(12): their argument is a hidden column behind the others.
#include <memory>
#include <vector>

#include "core/sql/virtual_table.h"
#include "core/sql/world.h"

namespace gapscope::sql {

struct SliceFunction {
  const char* name;
  const char* meaning;
  std::vector<ColumnInfo> columns;
  std::vector<std::uint32_t> (*rows)(World& world, std::uint32_t slice);  // ids of what it gives, in order
  void (*give)(World& world, sqlite3_context* out, std::uint32_t row, int column);
};
std::unique_ptr<Table> function_table(World& world, SliceFunction function);

}  // namespace gapscope::sql
