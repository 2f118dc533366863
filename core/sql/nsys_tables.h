#pragma once
// nsys.TABLE: what an export of Nsight Systems holds, as the file has it, next to our tables of the same trace. The file is
// read by core/load/sqlite_file.h with its limits, row by row as they are asked for, when a statement first names one of its
// tables.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sql/world.h"

struct sqlite3;

namespace gapscope {
class SqliteFile;
}

namespace gapscope::sql {

class Table;

class NsysTables {
 public:
  // `hides_environment`: Options::hides_environment.
  NsysTables(World& world, bool hides_environment);
  ~NsysTables();

  // Gives a new connection the schema `nsys`, without a table.
  static void add_schema(sqlite3* db);
  // Makes the tables that a statement names, and takes away those of statements before it that made no view: their names
  // alone mean nothing. An Error where it names one that is not there; `offset`: where that is in it.
  // The connection must allow CREATE VIRTUAL TABLE and DROP meanwhile.
  std::optional<Error> make_named(sqlite3* db, std::string_view statement, std::size_t& offset);
  // What to say of nsys.NAME that is not there.
  Error unknown(std::string_view name) const;
  static bool is_schema(std::string_view name);
  // ": did you mean nsys.X?" of a name that is a table's of the export; empty for every other.
  std::string hint(std::string_view name);
  // All that there are, to be listed; none of other traces, nor where the file cannot be read again.
  std::vector<const Table*> all();

 private:
  bool is_export() const;
  std::optional<Error> open();
  Table* table(std::string_view name);

  World& world_;
  const bool hides_environment_;
  std::unique_ptr<SqliteFile> file_;
  std::vector<std::unique_ptr<Table>> tables_;  // of the whole file, once it is open
  std::vector<const Table*> made_;              // those that the connection knows
  std::vector<const Table*> in_views_;          // of those, the ones that a view reads
};

}  // namespace gapscope::sql
