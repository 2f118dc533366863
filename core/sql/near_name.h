#pragma once
// What a person may have meant by a table or column that is not there.
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/sql/virtual_table.h"

namespace gapscope::sql {

// ": did you mean slice?" for SQLite's "no such table: slices"; empty where nothing is near.
std::string near_hint(std::string_view message, std::span<const std::unique_ptr<Table>> tables);

}  // namespace gapscope::sql
