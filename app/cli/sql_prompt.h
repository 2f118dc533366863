#pragma once
// The interactive prompt of `gapscope sql`.
#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/sql/database.h"

namespace gapscope {

// Asks until the end of input or .quit. `run` runs whole statements and says itself what went wrong. The exit code.
int run_prompt(sql::Database& database, const std::function<int(const std::string& script)>& run);

// What a line that begins with a dot prints: .tables, .schema [TABLE], .help. An Error where it is none of them.
Result<std::string> dot_command(const sql::Database& database, const std::string& line);

}  // namespace gapscope
