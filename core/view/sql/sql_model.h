#pragma once
// The tab "SQL": what is typed, what came of it, and where a row of that is in the trace.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/ids.h"
#include "core/view/search/result_list.h"

namespace gapscope {

struct Document;
struct RunReport;
class SqlAnswer;
namespace sql {
class Database;
class Table;
}  // namespace sql

constexpr std::size_t kMostSqlRows = 100'000;      // stored of a result; the rest is not asked for
constexpr std::size_t kMostSqlBytes = 64'000'000;  // of its texts

struct SqlQuestion {
  using Answer = SqlAnswer;
  static constexpr const char* kToDo = "run the query";
  std::string text;  // statements; without one, the words that can stand in one are found
  std::uint32_t run =
      0;  // how often it was run: the same text again is a new question, since tables that a query made may have changed
  // Of the query before: what that worked out, and the tables that it made, are there.
  std::shared_ptr<sql::Database> database{};
  std::shared_ptr<const RunReport> ranks{};  // of the run that the trace is one rank of, where that is known
  friend bool operator==(const SqlQuestion& a, const SqlQuestion& b) { return a.text == b.text && a.run == b.run; }
};

struct SqlText {
  std::uint32_t at = 0, size = 0;  // in the answer's texts
};
using SqlValue = std::variant<std::monostate, std::int64_t, double, SqlText>;

// The rows of the last statement that gives any.
struct SqlColumnFacts {
  bool numeric = false;   // no text in it, and a number at least
  std::size_t chars = 0;  // of the longest of its first values, or of its name
};

class SqlAnswer {
 public:
  SqlQuestion question;
  std::string error;  // a sentence; what came before it is done, and its rows are there
  std::vector<std::string> columns;
  std::vector<SqlColumnFacts> facts;  // of each column
  bool cut = false;                   // there are more rows than were stored
  double seconds = 0;                 // wall time
  std::shared_ptr<sql::Database> database;
  std::vector<const sql::Table*> tables;  // of the database, those of an export of Nsight Systems last
  std::vector<std::string> words;         // keywords, tables, columns, functions: sorted, for completion

  std::size_t rows() const { return columns.empty() ? 0 : values_.size() / columns.size(); }
  const SqlValue& value(std::size_t row, std::size_t column) const { return values_[row * columns.size() + column]; }
  // As it is read: digits, "NULL", a text.
  std::string text(std::size_t row, std::size_t column) const;
  // None of what is no number.
  std::optional<double> number(std::size_t row, std::size_t column) const;
  std::optional<std::size_t> column(std::string_view name) const;
  // Where the row is: the slice of its slice_id, or of its id where its ts or name is that slice's; else its ts and dur.
  std::optional<ListPlace> place(const Document& document, std::size_t row) const;

 private:
  friend class SqlRows;
  std::vector<SqlValue> values_;  // row by row
  std::string texts_;
};

std::shared_ptr<const SqlAnswer> answer(const Document& document, const SqlQuestion& question, const std::atomic<bool>* cancel);

// The rows with a header line.
std::string sql_csv(const SqlAnswer& answer);

// Positions of rows in the order of a column, ties as they came: numbers before texts, NULL last.
std::vector<std::uint32_t> arrange_sql(const SqlAnswer& answer, std::size_t column, bool descending);

// The word of a query that ends at `caret`.
std::string_view word_before(std::string_view text, std::size_t caret);
// What it can be made into, at most `most`: words of the query itself, then those of tables and the language, the shortest
// first. Behind FROM and JOIN tables only. Nothing of what is a word already: Tab would make a right query wrong.
std::vector<std::string> completions(const SqlAnswer& answer, std::string_view text, std::size_t caret, std::size_t most);

// Newest first, without doubles, at most kMostQueries.
constexpr std::size_t kMostQueries = 50;
void remember_query(std::vector<std::string>& queries, const std::string& query);

// Owned by WindowState: one for all traces.
struct SqlState {
  std::string text;
  std::uint32_t runs = 0;           // how often a query was run
  bool wants_run = false;           // set by a key or another tab; the tab runs what is typed and clears it
  bool has_keys = false;            // the editor has the keyboard; written by the tab
  bool replaced = false;            // `text` was changed by other means than typing
  std::size_t caret = 0;            // where it was last in `text`; written by the tab
  std::vector<std::string> recent;  // queries that ran, newest first; saved in the settings
  std::vector<std::string> saved;   // likewise, those that a person saved
  bool chart = false;
  std::size_t chart_x = 0, chart_y = 1;  // columns

  // Made from the answer when that or the order changed.
  struct Arranged {
    std::shared_ptr<const SqlAnswer> of;
    std::optional<std::size_t> column;  // none: as they came
    bool descending = false;
    std::vector<std::uint32_t> rows;
  } arranged;
  std::int64_t selected = -1;  // position in the answer's rows
};

}  // namespace gapscope
