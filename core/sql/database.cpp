#include "core/sql/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/free_memory.h"
#include "core/base/text.h"
#include "core/sql/hints.h"
#include "core/sql/nsys_tables.h"
#include "core/sql/perfetto_statement.h"
#include "core/sql/rewrite.h"
#include "core/sql/tables.h"
#include "core/sql/tokens.h"
#include "core/sql/virtual_table.h"

namespace gapscope::sql {
namespace {

constexpr int kOpsBetweenLooks = 1000;   // of SQLite's machine: a fraction of a millisecond
constexpr int kLongestValue = 16 << 20;  // bytes of a text or a row
constexpr int kLongestStatement = 1 << 20;
constexpr int kLongestPattern = 4096;  // of LIKE and GLOB

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Statement prepare(sqlite3* db, std::string_view text, int& code) {
  sqlite3_stmt* made = nullptr;
  code = sqlite3_prepare_v3(db, text.data(), static_cast<int>(text.size()), 0, &made, nullptr);
  return Statement(made);
}

std::vector<std::string> names_of_columns(sqlite3_stmt* statement) {
  std::vector<std::string> names;
  for (int i = 0; i < sqlite3_column_count(statement); ++i)
    names.emplace_back(sqlite3_column_name(statement, i) ? sqlite3_column_name(statement, i) : "");
  return names;
}

Cell cell_of(sqlite3_stmt* statement, int i) {
  Cell cell;
  switch (sqlite3_column_type(statement, i)) {
    case SQLITE_INTEGER:
      cell.kind = Cell::Kind::integer;
      cell.integer = sqlite3_column_int64(statement, i);
      break;
    case SQLITE_FLOAT:
      cell.kind = Cell::Kind::real;
      cell.real = sqlite3_column_double(statement, i);
      break;
    case SQLITE_NULL: break;
    default: {
      cell.kind = Cell::Kind::text;
      const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, i));
      cell.text = {text ? text : "", static_cast<std::size_t>(sqlite3_column_bytes(statement, i))};
    }
  }
  return cell;
}

// "line 2, column 8" of an offset; columns count characters.
std::string place_of(std::string_view script, std::size_t offset) {
  const std::string_view before = script.substr(0, std::min(offset, script.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", line, utf8_length(before.substr(line_begin)) + 1);
}

// Where the name at the end of "no such table: slices" is, from `offset` on; `offset` where it does not.
std::size_t place_of_name(std::string_view message, std::string_view script, std::size_t offset) {
  const std::size_t colon = message.find(": ");
  if (colon == std::string_view::npos) return offset;
  for (const Token& token : tokens_of(script.substr(offset)))
    if (unquoted(token.text) == message.substr(colon + 2)) return offset + token.offset;
  return offset;
}

// What the columns of a script's args are, so that one pass over the file reads all of them.
std::vector<std::string> arg_keys_in(std::string_view text) {
  std::vector<std::string> keys;
  for (const Token& token : tokens_of(text)) {
    if (token.kind != Token::Kind::text) continue;
    std::string key = unquoted(token.text);
    if (key.starts_with("args.")) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace

std::string out_of_time_sentence(double time_limit_s) {
  return fmt::format("The query was ended after its time limit of {} s.", time_limit_s);
}

Database::Database(std::shared_ptr<const Trace> trace, const Options& options)
    : Database(std::make_unique<World>(std::move(trace), options.spill_folder, options.run), options) {}
Database::Database(std::shared_ptr<const TraceSession> session, const Options& options)
    : Database(std::make_unique<World>(std::move(session), options.spill_folder, options.run), options) {}

Database::Database(std::unique_ptr<World> world, const Options& options)
    : options_(options), world_(std::move(world)), nsys_(std::make_unique<NsysTables>(*world_, options.hides_environment)) {
  add_slice_tables(*world_, tables_);
  add_track_tables(*world_, tables_);
  add_flow_tables(*world_, tables_);
  add_args_table(*world_, tables_);
  add_counter_table(*world_, tables_);
  add_info_tables(*world_, tables_);
  add_gpu_tables(*world_, tables_);
  add_work_tables(*world_, tables_);
  add_run_tables(*world_, tables_);
  world_->is_over = [this] { return progress(this) != 0; };
  set_up();
}

Database::~Database() { sqlite3_close_v2(db_); }

void Database::set_up() {
  if (sqlite3_open_v2(":memory:", &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
                      nullptr) != SQLITE_OK)
    throw std::bad_alloc();
  sqlite3_exec(db_, "pragma temp_store = memory", nullptr, nullptr, nullptr);  // what is sorted or stored never goes to a file
  sqlite3_hard_heap_limit64(
      static_cast<sqlite3_int64>(std::min<std::uint64_t>(free_memory_bytes() / 2, std::uint64_t{1} << 40)));
  for (const auto& [option, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                      {SQLITE_DBCONFIG_DQS_DML, 0},
                                      {SQLITE_DBCONFIG_DQS_DDL, 0},
                                      {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}})
    sqlite3_db_config(db_, option, value, nullptr);
  for (const auto& [limit, value] : {std::pair{SQLITE_LIMIT_LENGTH, kLongestValue},
                                     {SQLITE_LIMIT_SQL_LENGTH, kLongestStatement},
                                     {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, kLongestPattern}})
    sqlite3_limit(db_, limit, value);
  add_functions(db_, *world_);
  // A name alone is looked for in temp, in main, then in nsys: it means a table that a script made, or ours.
  for (const auto& table : tables_)
    if (add_table(db_, *table, "main", table->name()) == SQLITE_NOMEM) throw std::bad_alloc();
  NsysTables::add_schema(db_);
  sqlite3_limit(db_, SQLITE_LIMIT_ATTACHED, 0);
  // SQLite's own tables declare their columns when they are first asked for, which the authorizer would take for writing.
  int ignored = SQLITE_OK;
  for (const char* own : {"json_each('[]')", "json_tree('[]')", "pragma_table_info('')", "pragma_table_xinfo('')"})
    prepare(db_, fmt::format("select 1 from {}", own), ignored);
  sqlite3_set_authorizer(db_, authorize, this);
  sqlite3_progress_handler(db_, kOpsBetweenLooks, progress, this);
}

// Reading is allowed, and making and dropping the temporary tables and views of translated statements.
int Database::authorize(void* self, int action, const char* a, const char* b, const char* database, const char*) {
  auto& own = *static_cast<Database*>(self);
  if (own.making_tables_ || is_declaring()) return SQLITE_OK;
  const std::string_view first = a ? a : "", second = b ? b : "";
  const bool temporary = database && std::string_view(database) == "temp";
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: {
      constexpr std::array<std::string_view, 5> kRefused = {"load_extension", "readfile", "writefile", "edit",
                                                            "fts3_tokenizer"};
      // json_patch() takes the product of both numbers of keys, and cannot be cancelled meanwhile. The other two call
      // themselves for each part of a path, until the stack ends.
      constexpr std::array<std::string_view, 6> kWithoutLimits = {"json_patch", "jsonb_patch", "json_set",
                                                                  "jsonb_set",  "json_insert", "jsonb_insert"};
      if (std::find(kWithoutLimits.begin(), kWithoutLimits.end(), second) != kWithoutLimits.end()) {
        own.refused_ = fmt::format("{}() is refused: of long texts it would not end, or end the program.", second);
        return SQLITE_DENY;
      }
      if (std::find(kRefused.begin(), kRefused.end(), second) == kRefused.end()) return SQLITE_OK;
      own.refused_ = fmt::format("{}() is refused: nothing but the trace can be read here, and nothing written.", second);
      return SQLITE_DENY;
    }
    case SQLITE_PRAGMA:
      if (first == "table_info" || first == "table_xinfo") return SQLITE_OK;
      own.refused_ = fmt::format("PRAGMA {} is refused: only table_info and table_xinfo can be asked for.", printable(first));
      return SQLITE_DENY;
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_VIEW: return SQLITE_OK;
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
      if (own.creating_ && (temporary || first == "sqlite_temp_master" || first == "sqlite_master")) return SQLITE_OK;
      break;
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
      own.refused_ = "ATTACH and DETACH are refused: no other database can be opened here.";
      return SQLITE_DENY;
    default: break;
  }
  own.refused_ =
      "A trace is only read: this statement would write. To keep rows for later statements, write CREATE PERFETTO TABLE name "
      "AS SELECT ...";
  return SQLITE_DENY;
}

int Database::progress(void* self) {
  auto& own = *static_cast<Database*>(self);
  own.out_of_time_ |= own.options_.time_limit && std::chrono::steady_clock::now() > own.deadline_;
  if (own.watched_ && *own.watched_) own.cancelled_ = true;
  if (own.out_of_time_ || own.cancelled_) own.world_->cancel() = true;
  return own.out_of_time_ || own.cancelled_ ? 1 : 0;
}

void Database::cancel() noexcept {
  cancelled_ = true;
  world_->cancel() = true;
  sqlite3_interrupt(db_);
}

std::optional<Error> Database::run(std::string_view script, RowSink& sink) {
  cancelled_ = out_of_time_ = false;
  world_->cancel() = false;
  if (options_.time_limit) deadline_ = std::chrono::steady_clock::now() + *options_.time_limit;
  if (script.find('\0') != std::string_view::npos) return Error{"The script holds a NUL character."};
  if (script.size() > static_cast<std::size_t>(kLongestStatement))
    return Error{fmt::format("The script is longer than {} bytes.", format_count(kLongestStatement))};
  std::optional<Error> error;
  for (const StatementText& statement : statements_of(script)) {
    world_->args().begin_statement(arg_keys_in(statement.text));
    error = run_one(statement.text, statement.offset, script, sink);
    if (error) break;
  }
  world_->args().begin_statement({});  // what the file says of args is not needed any more
  return error;
}

std::optional<Error> Database::run_one(std::string_view text, std::size_t offset, std::string_view script, RowSink& sink) {
  std::size_t at = 0;
  making_tables_ = true;
  const std::optional<Error> trouble_of_nsys = nsys_->make_named(db_, text, at);
  making_tables_ = false;
  if (trouble_of_nsys) return Error{fmt::format("{} ({})", trouble_of_nsys->message, place_of(script, offset + at))};
  bool was_own = false;
  if (auto error = run_own(text, offset, script, was_own); error || was_own) return error;
  refused_.clear();
  int code = SQLITE_OK;
  Statement statement = prepare(db_, text, code);
  if (code != SQLITE_OK) return trouble(code, sqlite3_error_offset(db_), offset, script);
  if (!statement) return std::nullopt;
  const std::vector<std::string> names = names_of_columns(statement.get());
  if (const std::string faster = rewritten(text); !faster.empty()) {
    int ignored = SQLITE_OK;
    Statement other = prepare(db_, faster, ignored);
    if (other && sqlite3_column_count(other.get()) == static_cast<int>(names.size())) statement = std::move(other);
  }
  const auto error = step(statement.get(), names, sink);
  if (!error) return std::nullopt;
  return error->message.empty() ? trouble(sqlite3_errcode(db_), -1, offset, script) : *error;
}

// An Error without a message is SQLite's.
std::optional<Error> Database::step(sqlite3_stmt* statement, const std::vector<std::string>& names, RowSink& sink) {
  std::vector<Cell> cells(names.size());
  bool begun = false;
  const auto begin = [&] { return begun || names.empty() || (begun = sink.begin(names)); };
  for (int code = sqlite3_step(statement);; code = sqlite3_step(statement)) {
    if (code != SQLITE_ROW && code != SQLITE_DONE) return Error{};
    if (!begin()) return std::nullopt;
    if (code == SQLITE_DONE) break;
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = cell_of(statement, static_cast<int>(i));
    if (!sink.row(cells)) return std::nullopt;
  }
  if (begun) sink.end();
  return std::nullopt;
}

Error Database::trouble(int code, int error_offset, std::size_t offset, std::string_view script) {
  if (code == SQLITE_INTERRUPT || cancelled_ || out_of_time_) {
    if (!out_of_time_) return Error{"Cancelled."};
    return Error{out_of_time_sentence(static_cast<double>(options_.time_limit->count()) / 1000)};
  }
  if (code == SQLITE_NOMEM) return Error{"Not enough memory for this query. Ask for fewer rows, or group them."};
  if (code == SQLITE_TOOBIG)
    return Error{fmt::format("A text or row of this query is longer than {}.", format_bytes(kLongestValue))};
  if (!refused_.empty()) return Error{refused_ + " (" + place_of(script, offset) + ")"};
  std::string message = without_hint(sqlite3_errmsg(db_));
  if (message.ends_with("may not be modified"))
    return Error{fmt::format("A trace is only read: {}. ({})", message, place_of(script, offset))};
  if (code == SQLITE_ERROR && error_offset < 0 && message.ends_with('.')) return Error{message};  // a sentence of ours
  const std::size_t at =
      error_offset >= 0 ? offset + static_cast<std::size_t>(error_offset) : place_of_name(message, script, offset);
  constexpr std::string_view kNoTable = "no such table: ";
  const std::string table = message.starts_with(kNoTable) ? message.substr(kNoTable.size()) : std::string();
  if (const std::size_t dot = table.find('.'); dot != table.npos && NsysTables::is_schema(table.substr(0, dot))) {
    message = nsys_->unknown(table.substr(dot + 1)).message;
  } else {
    const std::string hint = nsys_->hint(table);
    message += hint.empty() ? near_hint(message, script, tables_) : hint;
  }
  return Error{fmt::format("{} ({})", message, place_of(script, at))};
}

std::optional<Error> Database::run_own(std::string_view text, std::size_t offset, std::string_view script, bool& was_own) {
  const Result<std::optional<PerfettoStatement>> read = read_perfetto_statement(text);
  if (!read) return Error{fmt::format("{} ({})", read.error().message, place_of(script, offset))};
  was_own = read->has_value();
  if (!was_own) return std::nullopt;
  const PerfettoStatement& s = **read;
  if (s.what == PerfettoStatement::What::include) return include(s.name, offset, script);
  if (s.what == PerfettoStatement::What::drop) return execute(std::string(s.select), 0, offset, script);
  if (std::any_of(tables_.begin(), tables_.end(),
                  [&](const auto& table) { return sqlite3_stricmp(std::string(table->name()).c_str(), s.name.c_str()) == 0; }))
    return Error{fmt::format("{} is a table of the trace, which stays what it is: choose another name. ({})", printable(s.name),
                             place_of(script, offset))};
  const char* kind = s.what == PerfettoStatement::What::table ? "table" : "view";
  if (s.replaces)
    for (const char* other : {"table", "view"})  // whichever it was: for the other this is an error that does not matter
      execute(fmt::format("drop {} if exists temp.{}", other, quoted_name(s.name)), 0, offset, script);
  std::string head = fmt::format("create temp {} {} as ", kind, quoted_name(s.name));
  const std::size_t prefix = head.size();
  return execute(head.append(s.select), prefix, offset + static_cast<std::size_t>(s.select.data() - text.data()), script);
}

std::optional<Error> Database::include(const std::string& module, std::size_t offset, std::string_view script) {
  const char* text = module_text(module);
  if (text == nullptr) return Error{fmt::format("{} ({})", unknown_module_sentence(module), place_of(script, offset))};
  for (const StatementText& statement : statements_of(text)) {
    bool was_own = false;
    if (auto error = run_own(statement.text, 0, text, was_own)) return error;
  }
  return std::nullopt;
}

// A statement whose first `prefix` bytes are ours and the rest is at `offset` of the script.
std::optional<Error> Database::execute(const std::string& sql, std::size_t prefix, std::size_t offset,
                                       std::string_view script) {
  refused_.clear();
  creating_ = true;
  int code = SQLITE_OK;
  Statement statement = prepare(db_, sql, code);
  const int error_offset = code == SQLITE_OK ? -1 : std::max(0, sqlite3_error_offset(db_) - static_cast<int>(prefix));
  if (code == SQLITE_OK) code = sqlite3_step(statement.get());
  creating_ = false;
  if (code == SQLITE_DONE || code == SQLITE_ROW) return std::nullopt;
  return trouble(sqlite3_errcode(db_), error_offset, offset, script);
}

std::vector<const Table*> Database::all_tables() const {
  std::vector<const Table*> out = nsys_->all();
  out.insert(out.begin(), tables_.size(), nullptr);
  for (std::size_t i = 0; i < tables_.size(); ++i) out[i] = tables_[i].get();
  return out;
}

std::string Database::tables_text() const {
  std::string out;
  for (const Table* table : all_tables()) out += fmt::format("{:<24} {}\n", printable(table->name()), table->meaning());
  return out;
}

std::string Database::schema_text(std::string_view wanted) const {
  std::string out;
  for (const Table* table : all_tables()) {
    if (!wanted.empty() && wanted != table->name()) continue;
    out += fmt::format("{}: {}\n", printable(table->name()), table->meaning());
    for (const ColumnInfo& c : table->columns())
      if (!c.hidden) out += fmt::format("  {:<24} {:<8} {:<6} {}\n", printable(c.name), type_word(c.type), c.unit, c.meaning);
  }
  return out;
}

}  // namespace gapscope::sql
