#include "core/sql/virtual_table.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "core/sql/tokens.h"

namespace gapscope::sql {
namespace {

struct OpenTable : sqlite3_vtab {
  const Table* table = nullptr;
};
struct OpenCursor : sqlite3_vtab_cursor {
  std::unique_ptr<Cursor> cursor;
};

const Table& table_of(sqlite3_vtab* vtab) { return *static_cast<OpenTable*>(vtab)->table; }
Cursor& cursor_of(sqlite3_vtab_cursor* cursor) { return *static_cast<OpenCursor*>(cursor)->cursor; }

int fail(sqlite3_vtab_cursor* cursor, const Error& error) {
  sqlite3_free(cursor->pVtab->zErrMsg);
  cursor->pVtab->zErrMsg = sqlite3_mprintf("%s", error.message.c_str());
  return SQLITE_ERROR;
}

// SQLite is C: an exception may not pass through it.
template <class Body>
int guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (...) {
    return SQLITE_INTERNAL;
  }
}

std::string declaration(const Table& table) {
  std::string text = "create table x(";
  for (const ColumnInfo& c : table.columns()) {
    text += fmt::format("{}{} {}{}", text.ends_with('(') ? "" : ", ", quoted_name(c.name), type_word(c.type),
                        c.hidden ? " hidden" : "");
  }
  return text + ")";
}

thread_local bool declaring = false;

int connect(sqlite3* db, void* table, int, const char* const*, sqlite3_vtab** out, char**) {
  return guarded([&] {
    const std::string columns = declaration(*static_cast<const Table*>(table));
    declaring = true;
    const int code = sqlite3_declare_vtab(db, columns.c_str());
    declaring = false;
    if (code != SQLITE_OK) return code;
    sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    auto opened = std::make_unique<OpenTable>();
    opened->table = static_cast<const Table*>(table);
    *out = opened.release();
    return SQLITE_OK;
  });
}
// A function of its own: with xConnect in this place, SQLite would find the table by its name in any schema ("eponymous").
int create(sqlite3* db, void* table, int n, const char* const* words, sqlite3_vtab** out, char** message) {
  return connect(db, table, n, words, out, message);
}
int disconnect(sqlite3_vtab* vtab) {
  delete static_cast<OpenTable*>(vtab);
  return SQLITE_OK;
}
int best_index(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  return guarded([&] {
    table_of(vtab).plan(*info);
    return SQLITE_OK;
  });
}
int open(sqlite3_vtab* vtab, sqlite3_vtab_cursor** out) {
  return guarded([&] {
    auto opened = std::make_unique<OpenCursor>();
    opened->cursor = table_of(vtab).open();
    *out = opened.release();
    return SQLITE_OK;
  });
}
int close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<OpenCursor*>(cursor);
  return SQLITE_OK;
}
int filter(sqlite3_vtab_cursor* cursor, int order, const char* plan, int n, sqlite3_value** values) {
  return guarded([&] {
    const auto error = cursor_of(cursor).filter(plan ? plan : "", order, {values, static_cast<std::size_t>(n)});
    return error ? fail(cursor, *error) : SQLITE_OK;
  });
}
int next(sqlite3_vtab_cursor* cursor) {
  return guarded([&] {
    cursor_of(cursor).next();
    const Error* trouble = cursor_of(cursor).trouble();
    return trouble ? fail(cursor, *trouble) : SQLITE_OK;
  });
}
int eof(sqlite3_vtab_cursor* cursor) { return cursor_of(cursor).done() ? 1 : 0; }
int column(sqlite3_vtab_cursor* cursor, sqlite3_context* out, int i) {
  return guarded([&] {
    cursor_of(cursor).column(out, i);
    return SQLITE_OK;
  });
}
int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = cursor_of(cursor).rowid();
  return SQLITE_OK;
}

const sqlite3_module kModule = [] {
  sqlite3_module m{};
  m.xCreate = create;
  m.xConnect = connect;
  m.xBestIndex = best_index;
  m.xDisconnect = disconnect;
  m.xDestroy = disconnect;
  m.xOpen = open;
  m.xClose = close;
  m.xFilter = filter;
  m.xNext = next;
  m.xEof = eof;
  m.xColumn = column;
  m.xRowid = rowid;
  return m;
}();

}  // namespace

std::string_view type_word(Type type) {
  constexpr std::string_view kWords[] = {"integer", "real", "text", ""};
  return kWords[static_cast<std::size_t>(type)];
}

int add_table(sqlite3* db, const Table& table, std::string_view schema, std::string_view name) {
  const int code = sqlite3_create_module_v2(db, table.name(), &kModule, const_cast<Table*>(&table), nullptr);
  if (code != SQLITE_OK) return code;
  const std::string sql =
      fmt::format("create virtual table {}.{} using {}", quoted_name(schema), quoted_name(name), quoted_name(table.name()));
  return sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
}

int drop_table(sqlite3* db, std::string_view schema, std::string_view name) {
  const std::string sql = fmt::format("drop table {}.{}", quoted_name(schema), quoted_name(name));
  return sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
}

bool is_declaring() { return declaring; }

void PlanText::finish(double rows, double cost) {
  info_.estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, rows));
  info_.estimatedCost = std::max(1.0, cost);
  if (text_.empty()) return;
  info_.idxStr = static_cast<char*>(sqlite3_malloc64(text_.size() + 1));
  if (info_.idxStr == nullptr) throw std::bad_alloc();
  std::memcpy(info_.idxStr, text_.c_str(), text_.size() + 1);
  info_.needToFreeIdxStr = 1;
}

void give(sqlite3_context* out, std::string_view text) {
  sqlite3_result_text64(out, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}
void give_copy(sqlite3_context* out, std::string_view text) {
  sqlite3_result_text64(out, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
std::string_view text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text ? std::string_view(text, static_cast<std::size_t>(sqlite3_value_bytes(value))) : std::string_view();
}

}  // namespace gapscope::sql
