#pragma once
// Statements of Perfetto's dialect that can be put into SQLite's words.
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace gapscope::sql {

struct PerfettoStatement {
  enum class What { include, table, view, drop };
  What what{};
  std::string name;         // of the module, table or view
  bool replaces = false;    // CREATE OR REPLACE
  std::string_view select;  // after AS, in the text that was read; of drop, all of it
};

// DROP TABLE|VIEW name, INCLUDE PERFETTO MODULE m, CREATE [OR REPLACE] PERFETTO TABLE|VIEW name[(columns)] AS SELECT ...;
// nothing for any other text, an Error that says what to write for those of Perfetto's statements that have no translation.
Result<std::optional<PerfettoStatement>> read_perfetto_statement(std::string_view text);

// The views and tables that a module makes, as statements; null where there is no such module here.
const char* module_text(std::string_view module);
std::string unknown_module_sentence(std::string_view module);

}  // namespace gapscope::sql
