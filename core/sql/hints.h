#pragma once
// What is added to SQLite's messages: what may have been meant.
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/sql/virtual_table.h"

namespace gapscope::sql {

// ": did you mean slice?" for SQLite's "no such table: slices" of a query, of a column one of the tables that it names; empty
// where nothing is near.
std::string near_hint(std::string_view message, std::string_view query, std::span<const std::unique_ptr<Table>> tables);
// From 3.42 on SQLite quotes a column that it does not know and adds a hint; as before here, with our own.
std::string without_hint(std::string message);

}  // namespace gapscope::sql
