#pragma once
// SQL over a trace: SQLite with a table for each thing that a trace holds, in its own columns. Nothing is copied, nothing
// written. Tables, columns and where they differ from Perfetto's: core/sql/README.md.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sql/run_source.h"
#include "core/trace/trace.h"

struct sqlite3;
struct sqlite3_stmt;

namespace gapscope {
class TraceSession;
}

namespace gapscope::sql {

class World;
class Table;
class NsysTables;

// A value of a row. Texts are valid until the next row.
struct Cell {
  enum class Kind : std::uint8_t { null, integer, real, text };
  Kind kind = Kind::null;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;
};

// What takes the rows of a statement that gives any.
class RowSink {
 public:
  virtual ~RowSink() = default;
  // Before the first row. False ends the statement.
  virtual bool begin(const std::vector<std::string>& columns) = 0;
  virtual bool row(std::span<const Cell> cells) = 0;
  virtual bool end() { return true; }  // after the last row
};

struct Options {
  // Folder for the text of a packed trace while a query asks for many args (core/load/read_again.h). Empty: none is stored.
  std::string spill_folder;
  std::optional<std::chrono::milliseconds> time_limit;  // for each script
  RunSource run{};                                      // what the tables of ranks are about
  bool hides_environment = false;  // refuses the table of an export of Nsight Systems with the program's environment variables
};

std::string out_of_time_sentence(double time_limit_s);

// One connection; one thread at a time, but for cancel().
class Database {
 public:
  Database(std::shared_ptr<const Trace> trace, const Options& options);
  // Over what is worked out already.
  Database(std::shared_ptr<const TraceSession> session, const Options& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs the statements of a script one after the other. An Error says what is wrong and where; what came before it is done.
  std::optional<Error> run(std::string_view script, RowSink& sink);
  // Ends what is under way soon, with an Error. From any thread, also from a signal handler.
  void cancel() noexcept;
  // Likewise once `cancel` is set; null: no longer. It must outlive the run.
  void watch(const std::atomic<bool>* cancel) { watched_ = cancel; }

  // Every table but the file's own.
  std::span<const std::unique_ptr<Table>> tables() const { return tables_; }
  // And with those: nsys.TABLE of an export of Nsight Systems, which is opened for it.
  std::vector<const Table*> all_tables() const;
  // "slice   what was going on ...": one line a table. Of one table: a line a column with its unit. Empty for an unknown one.
  std::string tables_text() const;
  std::string schema_text(std::string_view table) const;  // empty name: all
  World& world() { return *world_; }

 private:
  struct Prepared;
  std::optional<Error> run_one(std::string_view text, std::size_t offset, std::string_view script, RowSink& sink);
  std::optional<Error> run_own(std::string_view text, std::size_t offset, std::string_view script, bool& was_own);
  std::optional<Error> include(const std::string& module, std::size_t offset, std::string_view script);
  std::optional<Error> execute(const std::string& sql, std::size_t prefix, std::size_t offset, std::string_view script);
  std::optional<Error> step(sqlite3_stmt* statement, const std::vector<std::string>& names, RowSink& sink);
  Error trouble(int code, int error_offset, std::size_t offset, std::string_view script);
  Database(std::unique_ptr<World> world, const Options& options);
  void set_up();
  static int authorize(void* self, int action, const char* a, const char* b, const char* database, const char* trigger);
  static int progress(void* self);

  Options options_;
  std::unique_ptr<World> world_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::unique_ptr<NsysTables> nsys_;
  sqlite3* db_ = nullptr;
  std::chrono::steady_clock::time_point deadline_{};
  std::atomic<bool> cancelled_{false};
  const std::atomic<bool>* watched_ = nullptr;
  bool out_of_time_ = false;
  bool creating_ = false;       // a temporary table or view of a statement that was translated
  bool making_tables_ = false;  // of an export of Nsight Systems
  std::string refused_;         // what the authorizer refused last
  bool sink_refused_ = false;
};

}  // namespace gapscope::sql
