#pragma once
// LIKE, GLOB and REGEXP over the texts of a trace: each distinct text is looked at once.
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/trace/string_table.h"

namespace gapscope::sql {

// By string id. `op`: 'l' LIKE, 'g' GLOB, 'r' REGEXP, as SQLite and regexp() compare. An Error where a pattern cannot be read.
Result<std::vector<bool>> names_that_match(const StringTable& strings, char op, std::string_view pattern);

}  // namespace gapscope::sql
