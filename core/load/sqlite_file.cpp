#include "core/load/sqlite_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr int kLongestValue = 16 << 20;        // bytes of a text or a row
constexpr std::uint64_t kLeastRowBytes = 4;    // of the file; one that has more rows repeats its pages
constexpr std::uint64_t kTextsOfFile = 4;      // times the file's size: texts of one that has more overlap
constexpr std::uint64_t kMostPages = 8 << 20;  // bytes of the cache
constexpr std::size_t kWindow = std::size_t{256} << 10;
constexpr std::uint64_t kLargestInMemory = std::uint64_t{16} << 30;
constexpr std::uint64_t kSlack = 4096;
constexpr int kStepsOfSchema = 200'000;  // of SQLite's program that reads it; its time grows with the square of them

sqlite3* handle(void* database) { return static_cast<sqlite3*>(database); }

std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

// Plain reading of tables, and nothing else.
int only_reading(void*, int action, const char*, const char*, const char*, const char*) {
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_PRAGMA ? SQLITE_OK : SQLITE_DENY;
}

}  // namespace

bool is_sqlite(std::string_view first_bytes) {
  using namespace std::string_view_literals;
  return first_bytes.starts_with("SQLite format 3\0"sv);
}

// What SQLite reads from: a window of the source, so that neighbouring pages are one read.
struct SqliteFile::Bytes {
  std::unique_ptr<ByteSource> source;
  std::vector<char> window;
  std::uint64_t at = 0, size = 0, fetched = 0;

  bool read(std::uint64_t offset, char* into, std::size_t want, std::size_t& got) {
    for (got = 0; got < want;) {
      const std::uint64_t from = offset + got;
      if (from < at || from >= at + size) {
        window.resize(kWindow);
        at = from / kWindow * kWindow;
        const Result<std::size_t> more = source->read_at(at, window.data(), window.size());
        size = more ? *more : 0;
        fetched += size;
        if (!more) return false;
        if (from >= at + size) return true;
      }
      const std::size_t n = std::min<std::size_t>(want - got, static_cast<std::size_t>(at + size - from));
      std::memcpy(into + got, window.data() + (from - at), n);
      got += n;
    }
    return true;
  }
};

struct SqliteFile::Vfs {
  struct File {
    sqlite3_file base;
    Bytes* bytes;
  };
  static inline thread_local Bytes* opening = nullptr;  // by this thread

  static int close(sqlite3_file*) { return SQLITE_OK; }
  static int read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
    auto* const text = static_cast<char*>(into);
    std::size_t got = 0;
    const auto want = static_cast<std::size_t>(size);
    try {
      if (!reinterpret_cast<File*>(file)->bytes->read(static_cast<std::uint64_t>(offset), text, want, got))
        return SQLITE_IOERR_READ;
    } catch (...) {  // SQLite is C
      return SQLITE_IOERR_NOMEM;
    }
    // A file that is written through a log (bytes 18 and 19 are 2) is read without it.
    for (sqlite3_int64 at = std::max<sqlite3_int64>(offset, 18); at < 20 && at < offset + static_cast<sqlite3_int64>(got); ++at)
      if (text[at - offset] == 2) text[at - offset] = 1;
    if (got == want) return SQLITE_OK;
    std::memset(text + got, 0, want - got);
    return SQLITE_IOERR_SHORT_READ;
  }
  static int write(sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; }
  static int truncate(sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; }
  static int nothing(sqlite3_file*, int) { return SQLITE_OK; }
  static int size(sqlite3_file* file, sqlite3_int64* out) {
    *out = static_cast<sqlite3_int64>(reinterpret_cast<File*>(file)->bytes->source->file_bytes_total());
    return SQLITE_OK;
  }
  static int reserved(sqlite3_file*, int* out) {
    *out = 0;
    return SQLITE_OK;
  }
  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector(sqlite3_file*) { return 4096; }
  static int device(sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; }

  // The one file; no log, no journal, no scratch file.
  static int open(sqlite3_vfs*, const char*, sqlite3_file* file, int flags, int* out_flags) {
    static const sqlite3_io_methods kMethods = {1,       close,   read,     write,   truncate, nothing, size,
                                                nothing, nothing, reserved, control, sector,   device,  nullptr,
                                                nullptr, nullptr, nullptr,  nullptr, nullptr};
    file->pMethods = nullptr;
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0 || opening == nullptr) return SQLITE_CANTOPEN;
    reinterpret_cast<File*>(file)->bytes = std::exchange(opening, nullptr);
    file->pMethods = &kMethods;
    if (out_flags != nullptr) *out_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
    return SQLITE_OK;
  }
  static int remove(sqlite3_vfs*, const char*, int) { return SQLITE_IOERR_DELETE; }
  static int access(sqlite3_vfs*, const char*, int, int* out) {
    *out = 0;
    return SQLITE_OK;
  }
  static int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
  }

  static const char* name() {
    static std::once_flag once;
    static sqlite3_vfs vfs;
    std::call_once(once, [] {
      if (const sqlite3_vfs* usual = sqlite3_vfs_find(nullptr); usual != nullptr) vfs = *usual;
      vfs.iVersion = 1;
      vfs.szOsFile = sizeof(File);
      vfs.zName = "gapscope_bytes";
      vfs.pNext = nullptr;
      vfs.xOpen = open;
      vfs.xDelete = remove;
      vfs.xAccess = access;
      vfs.xFullPathname = full_path;
      sqlite3_vfs_register(&vfs, 0);
    });
    return vfs.zName;
  }
};

SqliteFile::Rows::Rows(SqliteFile& file, std::string table, sqlite3_stmt* statement)
    : file_(&file), table_(std::move(table)), statement_(statement) {}
SqliteFile::Rows::Rows(Rows&& other) noexcept
    : file_(other.file_), table_(std::move(other.table_)), statement_(std::exchange(other.statement_, nullptr)) {}
SqliteFile::Rows& SqliteFile::Rows::operator=(Rows&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(table_, other.table_);
  std::swap(statement_, other.statement_);
  return *this;
}
SqliteFile::Rows::~Rows() { sqlite3_finalize(statement_); }

bool SqliteFile::Rows::next() {
  if (statement_ == nullptr || file_->trouble_) return false;
  const int state = sqlite3_step(statement_);
  if (state == SQLITE_NOMEM || state == SQLITE_IOERR_NOMEM) throw std::bad_alloc();
  if (state == SQLITE_ROW) return file_->spend(1, 0, table_);
  if (state == SQLITE_TOOBIG)
    file_->trouble_ = Error{
        fmt::format("The file has a row of more than {} in its table {}.", format_bytes(kLongestValue), printable(table_))};
  else if (state != SQLITE_DONE)
    file_->trouble_ =
        Error{fmt::format("The file is damaged: its table {} cannot be read to its end. Export it again.", printable(table_))};
  return false;
}

std::optional<std::int64_t> SqliteFile::Rows::number(std::size_t column) const {
  const int c = static_cast<int>(column);
  switch (sqlite3_column_type(statement_, c)) {
    case SQLITE_INTEGER: return sqlite3_column_int64(statement_, c);
    case SQLITE_FLOAT: {
      constexpr double kMost = 9007199254740992.0;  // what a double counts to
      const double value = sqlite3_column_double(statement_, c);
      if (std::abs(value) <= kMost) return static_cast<std::int64_t>(value);
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

std::optional<double> SqliteFile::Rows::real(std::size_t column) const {
  const int c = static_cast<int>(column);
  const int type = sqlite3_column_type(statement_, c);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return std::nullopt;
  return sqlite3_column_double(statement_, c);
}

std::string_view SqliteFile::Rows::text(std::size_t column) const {
  const int c = static_cast<int>(column);
  if (sqlite3_column_type(statement_, c) != SQLITE_TEXT) return {};
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, c));
  if (text == nullptr) return {};
  const std::string_view out(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, c)));
  return file_->spend(0, out.size(), table_) ? out : std::string_view();
}

SqliteFile::Value SqliteFile::Rows::value(std::size_t column) const {
  const int c = static_cast<int>(column);
  const auto bytes = [&](const void* at) {
    const std::string_view all(static_cast<const char*>(at),
                               at ? static_cast<std::size_t>(sqlite3_column_bytes(statement_, c)) : 0);
    return file_->spend(0, all.size(), table_) ? all : std::string_view();
  };
  switch (sqlite3_column_type(statement_, c)) {
    case SQLITE_INTEGER: return {Value::Kind::integer, sqlite3_column_int64(statement_, c), 0, {}};
    case SQLITE_FLOAT: return {Value::Kind::real, 0, sqlite3_column_double(statement_, c), {}};
    case SQLITE_TEXT: return {Value::Kind::text, 0, 0, bytes(sqlite3_column_text(statement_, c))};
    case SQLITE_BLOB: return {Value::Kind::blob, 0, 0, bytes(sqlite3_column_blob(statement_, c))};
    default: return {};
  }
}

void SqliteFile::Rows::find(std::int64_t number) {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_bind_int64(statement_, 1, number);
}

SqliteFile::SqliteFile() = default;
SqliteFile::~SqliteFile() { sqlite3_close_v2(handle(database_)); }

std::unique_ptr<SqliteFile> SqliteFile::open(std::unique_ptr<ByteSource>& bytes) {
  std::unique_ptr<SqliteFile> file(new SqliteFile);
  file->bytes_ = std::make_unique<Bytes>();
  file->bytes_->source = std::move(bytes);
  const char* const vfs = Vfs::name();
  Vfs::opening = file->bytes_.get();
  sqlite3* opened = nullptr;
  const int state = sqlite3_open_v2("export", &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, vfs);
  Vfs::opening = nullptr;
  file->database_ = opened;
  if (state == SQLITE_OK && file->load_tables()) return file;
  bytes = file->release();
  return nullptr;
}

bool SqliteFile::load_tables() {
  sqlite3* const db = handle(database_);
  constexpr std::array<std::pair<int, int>, 7> kSettings = {{{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                                             {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                                             {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                                             {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                                             {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                                             {SQLITE_DBCONFIG_DQS_DML, 0},
                                                             {SQLITE_DBCONFIG_DQS_DDL, 0}}};
  for (const auto& [setting, value] : kSettings) sqlite3_db_config(db, setting, value, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
  sqlite3_set_authorizer(db, only_reading, nullptr);
  sqlite3_progress_handler(
      db, kStepsOfSchema, [](void*) { return 1; }, nullptr);
  for (const std::string& pragma : {fmt::format("PRAGMA cache_size=-{}", kMostPages >> 10), std::string("PRAGMA mmap_size=0"),
                                    std::string("PRAGMA temp_store=MEMORY"), std::string("PRAGMA cell_size_check=ON")})
    sqlite3_exec(db, pragma.c_str(), nullptr, nullptr, nullptr);
  if (sqlite3_exec(db, "SELECT 1 FROM sqlite_master LIMIT 1", nullptr, nullptr, nullptr) != SQLITE_OK) return false;
  sqlite3_progress_handler(db, 0, nullptr, nullptr);
  Rows rows(*this, "sqlite_master", prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"));
  while (rows.next())
    if (const std::string_view name = rows.text(0); !name.empty() && !name.starts_with("sqlite_")) tables_.emplace_back(name);
  return rows.statement_ != nullptr && !std::exchange(trouble_, std::nullopt);
}

sqlite3_stmt* SqliteFile::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int state = sqlite3_prepare_v2(handle(database_), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (state == SQLITE_NOMEM) throw std::bad_alloc();
  return statement;
}

// A damaged file may lead in circles: what comes out of it is compared with its size.
bool SqliteFile::spend(std::uint64_t rows, std::uint64_t text_bytes, const std::string& table) {
  rows_ += rows;
  text_bytes_ += text_bytes;
  if (rows_ <= bytes_total() / kLeastRowBytes + kSlack && text_bytes_ <= kTextsOfFile * bytes_total() + kSlack) return true;
  trouble_ = Error{fmt::format("The file is damaged: its table {} repeats itself. Export it again.", printable(table))};
  return false;
}

bool SqliteFile::has(std::string_view table) const { return std::find(tables_.begin(), tables_.end(), table) != tables_.end(); }

void SqliteFile::begin_again() {
  rows_ = text_bytes_ = 0;
  trouble_.reset();
}

SqliteFile::Known& SqliteFile::known(const std::string& table) {
  const auto at = std::find_if(known_.begin(), known_.end(), [&](const Known& k) { return k.table == table; });
  if (at != known_.end()) return *at;
  std::vector<Column> columns;
  Rows rows(*this, table, has(table) ? prepare(fmt::format("PRAGMA table_info({})", sql_name(table))) : nullptr);
  while (rows.next()) columns.push_back({std::string(rows.text(1)), std::string(rows.text(2))});
  return known_.emplace_back(Known{table, std::move(columns), {}});
}

bool SqliteFile::has_column(const std::string& table, std::string_view column) {
  const std::vector<Column>& all = known(table).columns;
  return std::any_of(all.begin(), all.end(), [&](const Column& c) { return c.name == column; });
}

// What SQLite calls a row's number, unless a column is called so; empty where every name is taken, or rows have none.
const std::string& SqliteFile::number_name(const std::string& table) {
  Known& of = known(table);
  if (of.number) return *of.number;
  of.number.emplace();
  for (const char* name : {"rowid", "_rowid_", "oid"}) {
    if (std::any_of(of.columns.begin(), of.columns.end(),
                    [&](const Column& c) { return sqlite3_stricmp(c.name.c_str(), name) == 0; }))
      continue;
    sqlite3_stmt* const statement = prepare(fmt::format("SELECT {} FROM main.{} NOT INDEXED", name, sql_name(table)));
    if (statement != nullptr) of.number = name;
    sqlite3_finalize(statement);
    break;
  }
  return *of.number;
}

bool SqliteFile::is_numbered(const std::string& table) { return !number_name(table).empty(); }

SqliteFile::Rows SqliteFile::rows(const std::string& table, const std::vector<std::string_view>& columns) {
  return rows(table, columns, {}, {});
}
SqliteFile::Rows SqliteFile::numbered_rows(const std::string& table, const std::vector<std::string_view>& columns) {
  return rows(table, columns, number_name(table), {});
}
SqliteFile::Rows SqliteFile::rows_by_number(const std::string& table, const std::vector<std::string_view>& columns) {
  const std::string& number = number_name(table);
  return number.empty() ? Rows(*this, table, nullptr) : rows(table, columns, number, " WHERE " + number + " = ?1");
}

SqliteFile::Rows SqliteFile::rows(const std::string& table, const std::vector<std::string_view>& columns,
                                  const std::string& number, std::string_view condition) {
  std::string sql;
  bool has_any = !number.empty();
  for (const std::string_view column : columns) {
    const bool is_there = has_column(table, column);
    has_any |= is_there;
    sql += (sql.empty() ? "SELECT " : ", ") + (is_there ? sql_name(column) : std::string("NULL"));
  }
  if (!has_any) return {*this, table, nullptr};
  if (!number.empty()) sql += (sql.empty() ? "SELECT " : ", ") + number;
  sqlite3_stmt* const statement = prepare(fmt::format("{} FROM main.{} NOT INDEXED{}", sql, sql_name(table), condition));
  if (statement == nullptr && !trouble_)
    trouble_ = Error{fmt::format("The file is damaged: its table {} cannot be read. Export it again.", printable(table))};
  return {*this, table, statement};
}

std::uint64_t SqliteFile::bytes_read() const { return std::min(bytes_->fetched, bytes_total()); }
std::uint64_t SqliteFile::bytes_total() const { return bytes_->source->file_bytes_total(); }

std::unique_ptr<ByteSource> SqliteFile::release() {
  sqlite3_close_v2(handle(std::exchange(database_, nullptr)));
  bytes_->source->seek(0);
  return std::move(bytes_->source);
}

Result<std::unique_ptr<ByteSource>> make_random_access(std::unique_ptr<ByteSource> source) {
  if (source->has_read_at()) return source;
  std::string text;
  for (std::size_t want = std::size_t{1} << 20;; want = std::min(want * 2, std::size_t{64} << 20)) {
    const std::size_t had = text.size();
    text.resize(had + want);
    const Result<std::size_t> got = source->read(text.data() + had, want);
    if (!got) return got.error();
    text.resize(had + *got);
    if (*got < want) break;
    if (text.size() > kLargestInMemory)
      return Error{fmt::format("The file is larger than {} and packed. Unpack it first.", format_bytes(kLargestInMemory))};
  }
  return make_text_source(std::move(text));
}

}  // namespace gapscope
