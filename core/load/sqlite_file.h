#pragma once
// The tables of an SQLite file that another program wrote, read row by row and never trusted: nothing in it runs (no view, no
// trigger, no function), nothing is written, no other file is opened, and what a damaged one repeats is cut short.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/load/byte_source.h"

struct sqlite3_stmt;

namespace gapscope {

bool is_sqlite(std::string_view first_bytes);

class SqliteFile {
 public:
  struct Column {
    std::string name, type;  // as the table declares it
  };
  struct Value {
    enum class Kind : std::uint8_t { null, integer, real, text, blob };
    Kind kind = Kind::null;
    std::int64_t integer = 0;
    double real = 0;
    std::string_view bytes;  // of a text or blob, until next()
  };
  // Of one table, in the file's order. A column that the table does not have is absent in every row.
  class Rows {
   public:
    Rows(Rows&&) noexcept;
    Rows& operator=(Rows&&) noexcept;
    ~Rows();
    // False at the end, and where the file is damaged: then SqliteFile::trouble() says so.
    bool next();
    // Nothing where the value is null or of another type.
    std::optional<std::int64_t> number(std::size_t column) const;
    std::int64_t number_or(std::size_t column, std::int64_t other) const { return number(column).value_or(other); }
    std::optional<double> real(std::size_t column) const;  // integers, too
    std::string_view text(std::size_t column) const;       // until next(); empty where it is none
    Value value(std::size_t column) const;                 // null, too, where SqliteFile::trouble() says why
    // Of rows_by_number(): next() gives the row of this number.
    void find(std::int64_t number);

   private:
    friend class SqliteFile;
    Rows(SqliteFile& file, std::string table, sqlite3_stmt* statement);
    SqliteFile* file_;
    std::string table_;
    sqlite3_stmt* statement_;
  };

  // Takes `bytes` over where it succeeds. Null: this is no SQLite file, or its list of tables is damaged.
  static std::unique_ptr<SqliteFile> open(std::unique_ptr<ByteSource>& bytes);
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;
  ~SqliteFile();

  // Tables proper, without views and virtual ones.
  const std::vector<std::string>& tables() const { return tables_; }
  bool has(std::string_view table) const;
  bool has_column(const std::string& table, std::string_view column);
  Rows rows(const std::string& table, const std::vector<std::string_view>& columns);

  // Columns in their order, without those that are worked out.
  std::vector<Column> columns(const std::string& table) { return known(table).columns; }
  // Whether rows have numbers (SQLite's rowid) that can be asked for.
  bool is_numbered(const std::string& table);
  // As rows(), with the row's number behind the columns.
  Rows numbered_rows(const std::string& table, const std::vector<std::string_view>& columns);
  Rows rows_by_number(const std::string& table, const std::vector<std::string_view>& columns);

  // A sentence about "The file".
  const std::optional<Error>& trouble() const { return trouble_; }
  // Forgets trouble, and what was handed out: of a table that is read again nothing repeats itself.
  void begin_again();
  std::uint64_t bytes_read() const;  // at most bytes_total()
  std::uint64_t bytes_total() const;
  std::unique_ptr<ByteSource> release();  // the bytes; the file must not be used any more

 private:
  struct Bytes;
  struct Vfs;
  SqliteFile();
  bool load_tables();
  sqlite3_stmt* prepare(const std::string& sql);
  struct Known {
    std::string table;
    std::vector<Column> columns;
    std::optional<std::string> number;
  };
  Known& known(const std::string& table);
  const std::string& number_name(const std::string& table);
  Rows rows(const std::string& table, const std::vector<std::string_view>& columns, const std::string& number,
            std::string_view condition);
  bool spend(std::uint64_t rows, std::uint64_t text_bytes, const std::string& table);

  std::unique_ptr<Bytes> bytes_;
  void* database_ = nullptr;
  std::vector<std::string> tables_;
  std::vector<Known> known_;                 // tables that were asked for
  std::uint64_t rows_ = 0, text_bytes_ = 0;  // handed out
  std::optional<Error> trouble_;
};

// Reads all of a source that cannot be read at any place into memory. An Error where it is too large for that.
Result<std::unique_ptr<ByteSource>> make_random_access(std::unique_ptr<ByteSource> source);

}  // namespace gapscope
