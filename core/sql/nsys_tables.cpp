#include "core/sql/nsys_tables.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/load/nsight_systems.h"
#include "core/load/sqlite_file.h"
#include "core/sql/tokens.h"
#include "core/sql/virtual_table.h"

namespace gapscope::sql {
namespace {

constexpr std::string_view kSchema = "nsys";
constexpr std::string_view kEnvironment = "META_DATA_CAPTURE";  // the table that holds environment variables
constexpr std::size_t kRowsBetweenLooks = 4096;
constexpr std::uint64_t kUsualRowBytes = 80;

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sqlite3_strnicmp(a.data(), b.data(), static_cast<int>(a.size())) == 0;
}

// By SQLite's rules of affinity (datatype3.html, 3.1), so that comparisons go as in the file.
Type type_of(const std::string& declared) {
  const auto has = [&](const char* word) { return contains_ignore_case(declared, word); };
  if (has("int")) return Type::integer;
  if (has("char") || has("clob") || has("text")) return Type::text;
  return has("real") || has("floa") || has("doub") ? Type::real : Type::any;
}

// What reading bytes says of "The file", of this one.
Error named(Error error, const std::string& path) {
  constexpr std::string_view kNameless = "The file";
  if (error.message.starts_with(kNameless)) error.message.replace(0, kNameless.size(), printable(path));
  return error;
}

// Numbers of rows by the whole number that a column has in them.
struct ValueIndex {
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;  // value, row
  std::vector<std::int64_t> others;                         // rows that have something else, but not NULL
};

struct TableText {
  std::string table, name;  // name: with its schema
  std::vector<SqliteFile::Column> columns;
  std::vector<ColumnInfo> infos;
};

class NsysTable final : TableText, public Table {
 public:
  NsysTable(World& world, SqliteFile& file, TableText text)
      : TableText(std::move(text)),
        Table(TableText::name.c_str(), "as the export of Nsight Systems has it", infos),
        world_(world),
        file_(file) {}

  void plan(sqlite3_index_info& info) const override {
    const double rows = 1 + static_cast<double>(file_.bytes_total() / kUsualRowBytes);
    int column = -1;
    for (int i = 0; i < info.nConstraint && column < 0; ++i) {
      const auto& c = info.aConstraint[i];
      if (c.op != SQLITE_INDEX_CONSTRAINT_EQ || c.usable == 0 || c.iColumn < 0) continue;
      column = c.iColumn;
      info.aConstraintUsage[i].argvIndex = 1;
    }
    info.idxNum = column;
    info.idxStr = sqlite3_mprintf("%llu", static_cast<sqlite3_uint64>(info.colUsed));
    if (info.idxStr == nullptr) throw std::bad_alloc();
    info.needToFreeIdxStr = 1;
    info.estimatedRows = static_cast<sqlite3_int64>(column < 0 ? rows : 10);
    info.estimatedCost = column < 0 ? 2 * rows : 20;
  }
  std::unique_ptr<Cursor> open() const override;

  const std::string& table() const { return TableText::table; }
  std::string_view column_name(std::size_t i) const { return TableText::columns[i].name; }
  std::size_t width() const { return TableText::columns.size(); }
  SqliteFile& file() const { return file_; }
  bool is_over() const { return world_.is_over(); }
  Error named(Error error) const { return sql::named(std::move(error), world_.trace().path); }

  // Of a table whose rows have numbers; null, with an Error if there is one, where it could not be made.
  const ValueIndex* index(int column, std::optional<Error>& trouble) const {
    const auto [at, is_new] = indexes_.try_emplace(column);
    if (!is_new) return &at->second;
    auto rows = file_.numbered_rows(table(), {column_name(static_cast<std::size_t>(column))});
    bool stopped = false;
    for (std::size_t n = 1; !stopped && rows.next(); ++n) {
      using Kind = SqliteFile::Value::Kind;
      const SqliteFile::Value value = rows.value(0);
      const std::int64_t row = rows.number_or(1, 0);
      if (value.kind == Kind::integer)
        at->second.rows.emplace_back(value.integer, row);
      else if (value.kind != Kind::null)
        at->second.others.push_back(row);
      stopped = n % kRowsBetweenLooks == 0 && is_over();
    }
    trouble = file_.trouble();
    if (stopped || trouble) return indexes_.erase(at), nullptr;
    std::sort(at->second.rows.begin(), at->second.rows.end());
    return &at->second;
  }

 private:
  World& world_;
  SqliteFile& file_;
  mutable std::unordered_map<int, ValueIndex> indexes_;  // by column
};

class NsysCursor final : public Cursor {
 public:
  explicit NsysCursor(const NsysTable& table) : table_(table), is_numbered_(table.file().is_numbered(table.table())) {}

  std::optional<Error> filter(std::string_view plan, int column, std::span<sqlite3_value*> values) override {
    table_.file().begin_again();
    trouble_.reset();
    found_.clear();
    at_ = 0;
    number_ = -1;
    is_done_ = is_found_ = false;
    choose(std::strtoull(std::string(plan).c_str(), nullptr, 10));
    if (column >= 0 && !values.empty()) look_up(column, values[0]);
    if (!is_found_ && !is_done_ && !trouble_) {
      all_.reset();
      all_.emplace(is_numbered_ ? table_.file().numbered_rows(table_.table(), names_)
                                : table_.file().rows(table_.table(), names_));
    }
    next();
    return trouble_;
  }
  void next() override {
    if (is_done_ || trouble_) return;
    if (is_found_) {
      is_done_ = true;
      while (is_done_ && !table_.file().trouble() && at_ < found_.size()) {  // a number may be of no row in a damaged file
        by_number_->find(found_[at_++]);
        is_done_ = !by_number_->next();
      }
    } else {
      is_done_ = !all_->next();
    }
    note_trouble();
    ++number_;
  }
  bool done() const override { return is_done_ || trouble_; }
  const Error* trouble() const override { return trouble_ ? &*trouble_ : nullptr; }
  void column(sqlite3_context* out, int column) override {
    const std::int32_t place = places_[static_cast<std::size_t>(column)];
    if (place < 0) return give_null(out);
    using Kind = SqliteFile::Value::Kind;
    const SqliteFile::Value value = rows().value(static_cast<std::size_t>(place));
    switch (value.kind) {
      case Kind::integer: return give(out, value.integer);
      case Kind::real: return sqlite3_result_double(out, value.real);
      case Kind::text: return give_copy(out, value.bytes);
      case Kind::blob:
        return sqlite3_result_blob64(out, value.bytes.empty() ? "" : value.bytes.data(), value.bytes.size(), SQLITE_TRANSIENT);
      default: return give_null(out);
    }
  }
  std::int64_t rowid() const override { return is_numbered_ ? rows().number_or(names_.size(), 0) : number_; }

 private:
  const SqliteFile::Rows& rows() const { return is_found_ ? *by_number_ : *all_; }
  void note_trouble() {
    if (table_.file().trouble()) trouble_ = table_.named(*table_.file().trouble());
  }

  // Which columns are read: the others are not looked at by the statement. The last bit covers all from there on.
  void choose(std::uint64_t used) {
    if (!places_.empty() && used == used_) return;
    used_ = used;
    places_.assign(table_.width(), -1);
    names_.clear();
    by_number_.reset();
    for (std::size_t i = 0; i < table_.width(); ++i) {
      if ((used >> std::min<std::size_t>(i, 63) & 1) == 0) continue;
      places_[i] = static_cast<std::int32_t>(names_.size());
      names_.push_back(table_.column_name(i));
    }
    if (names_.empty() && !is_numbered_) names_.push_back(table_.column_name(0));
  }

  // By an index of the column, where what is asked for is a whole number. SQLite compares again.
  void look_up(int column, sqlite3_value* value) {
    const int type = sqlite3_value_type(value);
    is_done_ = type == SQLITE_NULL;  // which equals nothing
    const double real = sqlite3_value_double(value);
    const bool is_whole = type == SQLITE_INTEGER || (type == SQLITE_FLOAT && real == std::trunc(real) && std::abs(real) < 9e15);
    if (!is_whole || !is_numbered_) return;
    const ValueIndex* const index = table_.index(column, trouble_);
    if (trouble_) trouble_ = table_.named(*trouble_);
    if (index == nullptr) return;
    is_found_ = true;
    const std::int64_t wanted = sqlite3_value_int64(value);
    const auto first = std::lower_bound(index->rows.begin(), index->rows.end(), std::pair(wanted, INT64_MIN));
    for (auto at = first; at != index->rows.end() && at->first == wanted; ++at) found_.push_back(at->second);
    found_.insert(found_.end(), index->others.begin(), index->others.end());
    if (!by_number_) by_number_.emplace(table_.file().rows_by_number(table_.table(), names_));
  }

  const NsysTable& table_;
  const bool is_numbered_;
  std::uint64_t used_ = 0;
  std::vector<std::int32_t> places_;  // of a column among those that are read; -1: it is not
  std::vector<std::string_view> names_;
  std::optional<SqliteFile::Rows> all_, by_number_;
  bool is_found_ = false, is_done_ = false;
  std::vector<std::int64_t> found_;
  std::size_t at_ = 0;  // in found_
  std::int64_t number_ = -1;
  std::optional<Error> trouble_;
};

std::unique_ptr<Cursor> NsysTable::open() const { return std::make_unique<NsysCursor>(*this); }

// Whether what stands before nsys.NAME makes that a table, not a column of something called nsys.
bool names_a_table(const std::vector<Token>& tokens, std::size_t at) {
  return at > 0 && (is_word(tokens[at - 1], "from") || is_word(tokens[at - 1], "join"));
}

}  // namespace

NsysTables::NsysTables(World& world, bool hides_environment) : world_(world), hides_environment_(hides_environment) {}
NsysTables::~NsysTables() = default;

void NsysTables::add_schema(sqlite3* db) {
  sqlite3_exec(db, fmt::format("attach ':memory:' as {}", kSchema).c_str(), nullptr, nullptr, nullptr);
}

bool NsysTables::is_schema(std::string_view name) { return same_name(name, kSchema); }

std::string NsysTables::hint(std::string_view name) {
  if (!is_export() || open()) return {};
  const Table* const meant = table(name);
  return meant != nullptr ? fmt::format(": did you mean {}?", printable(meant->name())) : std::string();
}

bool NsysTables::is_export() const { return world_.trace().producer->id == std::string_view("nsight_systems"); }

std::optional<Error> NsysTables::open() {
  if (file_) return std::nullopt;
  Result<std::unique_ptr<SqliteFile>> file = open_nsight_tables(world_.trace().path, &world_.cancel());
  if (!file) return named(file.error(), world_.trace().path);
  file_ = std::move(*file);
  for (const std::string& name : file_->tables()) {
    TableText text{name, fmt::format("{}.{}", kSchema, name), file_->columns(name), {}};
    if (text.columns.empty()) continue;  // all of them are worked out
    for (const SqliteFile::Column& c : text.columns) text.infos.push_back({c.name.c_str(), type_of(c.type), "", ""});
    tables_.push_back(std::make_unique<NsysTable>(world_, *file_, std::move(text)));
  }
  file_->begin_again();
  return std::nullopt;
}

Table* NsysTables::table(std::string_view name) {
  for (const auto& table : tables_)
    if (same_name(static_cast<const NsysTable&>(*table).table(), name)) return table.get();
  return nullptr;
}

Error NsysTables::unknown(std::string_view name) const {
  if (is_export())
    return Error{
        fmt::format("{}.{} is not in this export of Nsight Systems; .tables lists what is.", kSchema, printable(name))};
  return Error{fmt::format("{}.{}: only exports of Nsight Systems have such tables; {} wrote this trace.", kSchema,
                           printable(name), world_.trace().producer->title)};
}

std::optional<Error> NsysTables::make_named(sqlite3* db, std::string_view statement, std::size_t& offset) {
  const auto has = [](const std::vector<const Table*>& all, const Table* one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  made_.erase(std::remove_if(made_.begin(), made_.end(),
                             [&](const Table* made) {
                               return !has(in_views_, made) &&
                                      drop_table(db, kSchema, static_cast<const NsysTable*>(made)->table()) == SQLITE_OK;
                             }),
              made_.end());
  if (!contains_ignore_case(statement, kSchema)) return std::nullopt;
  const std::vector<Token> tokens = tokens_of(statement);
  const auto is_name = [&](std::size_t i) {
    return i < tokens.size() && (tokens[i].kind == Token::Kind::word || tokens[i].kind == Token::Kind::quoted_name);
  };
  const auto is_nsys = [&](std::size_t i) { return is_name(i) && is_schema(unquoted(tokens[i].text)); };
  const auto is_dot = [&](std::size_t i) { return i < tokens.size() && is_sign(tokens[i], '.'); };
  const bool is_view = std::any_of(tokens.begin(), tokens.end(), [](const Token& token) { return is_word(token, "view"); });
  bool has_another = false;  // something of the statement that is called nsys: nsys.NAME may be its column
  for (std::size_t i = 0; i < tokens.size(); ++i) has_another |= is_nsys(i) && !is_dot(i + 1);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_nsys(i) || !is_dot(i + 1) || !is_name(i + 2)) continue;
    const std::string name = unquoted(tokens[i + 2].text);
    const bool is_table = !has_another || names_a_table(tokens, i);
    offset = tokens[i].offset;
    if (!is_export()) {
      if (is_table) return unknown(name);
      continue;
    }
    if (std::optional<Error> trouble = open()) return trouble;
    const Table* const wanted = table(name);
    if (wanted == nullptr && is_table) return unknown(name);
    if (wanted == nullptr) continue;
    if (hides_environment_ && same_name(name, kEnvironment))
      return Error{
          fmt::format("{} holds the recorded program's environment variables. Answers of mcp and serve leave it out, gapscope "
                      "sql shows it.",
                      wanted->name())};
    if (is_view) in_views_.push_back(wanted);
    if (has(made_, wanted)) continue;
    if (add_table(db, *wanted, kSchema, static_cast<const NsysTable*>(wanted)->table()) != SQLITE_OK)
      return Error{fmt::format("{}.{} cannot be shown: {}.", kSchema, printable(name), printable(sqlite3_errmsg(db)))};
    made_.push_back(wanted);
  }
  return std::nullopt;
}

std::vector<const Table*> NsysTables::all() {
  std::vector<const Table*> out;
  if (!is_export() || open()) return out;
  for (const auto& table : tables_) out.push_back(table.get());
  return out;
}

}  // namespace gapscope::sql
