#pragma once
// SQLite's interface for virtual tables as three classes. A table belongs to one schema of a connection, so that a name with
// another schema never means it, and is never written. Whatever is passed down as a constraint is a hint only: SQLite looks at
// every row again, so that a cursor may give more rows than were asked for, never fewer.
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace gapscope::sql {

enum class Type : std::uint8_t { integer, real, text, any };
std::string_view type_word(Type type);  // empty for any

// How a column is described to people: `.schema`, the README and the tools for agents print these.
struct ColumnInfo {
  const char* name = "";
  Type type{};
  const char* unit = "";  // "ns", "bytes", ...; empty where there is none
  const char* meaning = "";
  bool hidden = false;  // not part of `select *`
};

class Cursor {
 public:
  virtual ~Cursor() = default;
  // `plan` and `order` as Table::plan() made them, `values` in the order that it asked for.
  virtual std::optional<Error> filter(std::string_view plan, int order, std::span<sqlite3_value*> values) = 0;
  virtual void next() = 0;
  virtual bool done() const = 0;
  // What went wrong in next(), or null.
  virtual const Error* trouble() const { return nullptr; }
  virtual void column(sqlite3_context* out, int column) = 0;
  virtual std::int64_t rowid() const = 0;
};

class Table {
 public:
  Table(const char* name, const char* meaning, std::span<const ColumnInfo> columns)
      : name_(name), meaning_(meaning), columns_(columns) {}
  virtual ~Table() = default;
  const char* name() const { return name_; }
  const char* meaning() const { return meaning_; }
  std::span<const ColumnInfo> columns() const { return columns_; }

  virtual void plan(sqlite3_index_info& info) const = 0;
  virtual std::unique_ptr<Cursor> open() const = 0;

 private:
  const char* name_;
  const char* meaning_;
  std::span<const ColumnInfo> columns_;
};

// Makes `table` the table `name` of a schema that the connection has. It must outlive the connection, whose authorizer must
// allow CREATE VIRTUAL TABLE meanwhile. An SQLite code.
int add_table(sqlite3* db, const Table& table, std::string_view schema, std::string_view name);
int drop_table(sqlite3* db, std::string_view schema, std::string_view name);
// Whether SQLite is declaring a table's columns, which authorizers take for an UPDATE of sqlite_master.
bool is_declaring();

// The text of a plan: what is asked for of constraint i comes as the next value, and `letters` are put into the plan for it.
class PlanText {
 public:
  explicit PlanText(sqlite3_index_info& info) : info_(info) {}
  void use(int constraint, std::string_view letters) {
    text_ += letters;
    info_.aConstraintUsage[constraint].argvIndex = ++used_;
  }
  bool empty() const { return text_.empty(); }
  void finish(double rows, double cost);

 private:
  sqlite3_index_info& info_;
  std::string text_;
  int used_ = 0;
};

void give(sqlite3_context* out, std::string_view text);  // text that outlives the statement
void give_copy(sqlite3_context* out, std::string_view text);
inline void give(sqlite3_context* out, std::int64_t v) { sqlite3_result_int64(out, v); }
inline void give_null(sqlite3_context* out) { sqlite3_result_null(out); }
std::string_view text_of(sqlite3_value* value);

}  // namespace gapscope::sql
