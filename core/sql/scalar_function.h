#pragma once
// What functions of SQL that give one value have in common.
#include "core/sql/tables.h"

namespace gapscope::sql {

using Values = sqlite3_value**;
constexpr int kPure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

inline bool is_null(sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; }

// As SQLite calls it: what kBody throws is a shortage of memory.
template <void (*kBody)(sqlite3_context*, int, Values)>
void guarded(sqlite3_context* out, int n, Values values) noexcept {
  try {
    kBody(out, n, values);
  } catch (...) {
    sqlite3_result_error_nomem(out);
  }
}

}  // namespace gapscope::sql
