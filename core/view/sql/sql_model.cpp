#include "core/view/sql/sql_model.h"
#include "core/sql/tokens.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/table/csv.h"
#include "core/base/text.h"
#include "core/sql/database.h"
#include "core/sql/virtual_table.h"
#include "core/sql/world.h"
#include "core/view/document.h"
#include "core/view/sql/sql_examples.h"

namespace gapscope {

// Takes the rows of a script; each statement's in place of those before.
class SqlRows : public sql::RowSink {
 public:
  SqlRows(SqlAnswer& answer, const std::atomic<bool>* cancel) : answer_(answer), cancel_(cancel) {}
  bool begin(const std::vector<std::string>& columns) override {
    answer_.columns = columns;
    answer_.values_.clear();
    answer_.texts_.clear();
    answer_.cut = false;
    return true;
  }
  bool row(std::span<const sql::Cell> cells) override {
    if (answer_.rows() >= kMostSqlRows || answer_.texts_.size() >= kMostSqlBytes) answer_.cut = true;
    if (answer_.cut || (cancel_ && *cancel_)) return false;
    for (const sql::Cell& cell : cells) answer_.values_.push_back(value_of(cell));
    return true;
  }

 private:
  SqlValue value_of(const sql::Cell& cell) {
    switch (cell.kind) {
      case sql::Cell::Kind::integer: return cell.integer;
      case sql::Cell::Kind::real: return cell.real;
      case sql::Cell::Kind::text: {
        const std::string_view text = cell.text.substr(0, kMostSqlBytes);
        const SqlText at{static_cast<std::uint32_t>(answer_.texts_.size()), static_cast<std::uint32_t>(text.size())};
        answer_.texts_ += text;
        return at;
      }
      default: return std::monostate();
    }
  }
  SqlAnswer& answer_;
  const std::atomic<bool>* cancel_;
};

namespace {

constexpr std::size_t kMeasuredRows = 200;

std::vector<std::string> words_of(const std::vector<const sql::Table*>& tables) {
  std::set<std::string> words(sql_words().begin(), sql_words().end());
  for (const sql::Table* table : tables) {
    words.insert(table->name());
    for (const auto& column : table->columns()) words.insert(column.name);
  }
  return {words.begin(), words.end()};
}

bool fits(const SqlAnswer& answer, std::size_t row, std::optional<std::size_t> column, std::int64_t wanted) {
  return column && std::holds_alternative<std::int64_t>(answer.value(row, *column)) &&
         std::get<std::int64_t>(answer.value(row, *column)) == wanted;
}

std::optional<std::int64_t> integer(const SqlAnswer& answer, std::size_t row, std::optional<std::size_t> column) {
  if (!column || !std::holds_alternative<std::int64_t>(answer.value(row, *column))) return std::nullopt;
  return std::get<std::int64_t>(answer.value(row, *column));
}

// The slice of the trace that the table `slice` gives this number; none of an instant.
SliceId slice_of(const SqlAnswer& answer, std::int64_t id) {
  const sql::SliceOrder& order = answer.database->world().order();
  if (id < 0 || id >= static_cast<std::int64_t>(order.size())) return {};
  const sql::SliceRow row = order.row(static_cast<std::uint32_t>(id));
  return order.is_instant(row) ? SliceId{} : SliceId(row);
}

SqlColumnFacts facts_of(const SqlAnswer& answer, std::size_t column) {
  SqlColumnFacts facts{false, answer.columns[column].size()};
  bool text = false;
  for (std::size_t row = 0; row < answer.rows(); ++row) {
    text |= std::holds_alternative<SqlText>(answer.value(row, column));
    facts.numeric |= answer.number(row, column).has_value();
    if (row < kMeasuredRows) facts.chars = std::max(facts.chars, answer.text(row, column).size());
  }
  facts.numeric &= !text;
  return facts;
}

}  // namespace

std::string SqlAnswer::text(std::size_t row, std::size_t column) const {
  const SqlValue& v = value(row, column);
  if (const auto* n = std::get_if<std::int64_t>(&v)) return std::to_string(*n);
  if (const auto* d = std::get_if<double>(&v)) return fmt::format("{}", *d);
  if (const auto* t = std::get_if<SqlText>(&v)) return texts_.substr(t->at, t->size);
  return "NULL";
}

std::optional<double> SqlAnswer::number(std::size_t row, std::size_t column) const {
  const SqlValue& v = value(row, column);
  if (const auto* n = std::get_if<std::int64_t>(&v)) return static_cast<double>(*n);
  if (const auto* d = std::get_if<double>(&v)) return *d;
  return std::nullopt;
}

std::optional<std::size_t> SqlAnswer::column(std::string_view name) const {
  const auto at = std::find(columns.begin(), columns.end(), name);
  return at == columns.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - columns.begin()));
}

std::optional<ListPlace> SqlAnswer::place(const Document& document, std::size_t row) const {
  const Trace& trace = document.trace;
  if (const auto id = integer(*this, row, column("slice_id"))) {
    if (const SliceId slice = slice_of(*this, *id)) return place_of(trace, slice);
  }
  if (const auto id = integer(*this, row, column("id"))) {
    const SliceId slice = slice_of(*this, *id);
    const auto named = column("name");
    if (slice && (fits(*this, row, column("ts"), trace.begin(slice)) || (named && text(row, *named) == trace.name(slice))))
      return place_of(trace, slice);
  }
  const auto ts = integer(*this, row, column("ts")), dur = integer(*this, row, column("dur"));
  if (!ts || !dur || *dur < 0 || *ts > trace.span.end || *ts < trace.span.begin) return std::nullopt;
  return ListPlace{{}, {}, {*ts, *ts + std::min(*dur, trace.span.end - *ts)}};
}

std::shared_ptr<const SqlAnswer> answer(const Document& document, const SqlQuestion& question,
                                        const std::atomic<bool>* cancel) {
  const auto begin = std::chrono::steady_clock::now();
  auto made = std::make_shared<SqlAnswer>();
  made->question = question;
  sql::Options options;
  options.run.known = question.ranks;
  const bool fits = question.database && question.database->world().run_source() == options.run;
  made->database = fits ? question.database : std::make_shared<sql::Database>(document.session_owner, options);
  made->question.database.reset();
  made->database->watch(cancel);
  SqlRows rows(*made, cancel);
  if (const std::optional<Error> trouble = made->database->run(question.text, rows); trouble && !made->cut)
    made->error = trouble->message;
  made->database->watch(nullptr);
  if (cancel && *cancel) return nullptr;
  (void)made->database->world().order();  // which place() asks on the UI thread
  for (std::size_t c = 0; c < made->columns.size(); ++c) made->facts.push_back(facts_of(*made, c));
  made->tables = made->database->all_tables();
  made->words = words_of(made->tables);
  made->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return made;
}

std::string sql_csv(const SqlAnswer& answer) {
  std::string out;
  const auto line = [&](const auto& cell) {
    for (std::size_t c = 0; c < answer.columns.size(); ++c) out += (c > 0 ? "," : "") + cell(c);
    out += '\n';
  };
  line([&](std::size_t c) { return csv_cell(answer.columns[c]); });
  for (std::size_t row = 0; row < answer.rows(); ++row)
    line([&](std::size_t c) {
      return std::holds_alternative<std::monostate>(answer.value(row, c)) ? std::string() : csv_cell(answer.text(row, c));
    });
  return out;
}

std::vector<std::uint32_t> arrange_sql(const SqlAnswer& answer, std::size_t column, bool descending) {
  std::vector<std::uint32_t> rows(answer.rows());
  std::iota(rows.begin(), rows.end(), 0u);
  if (column >= answer.columns.size()) return rows;
  const auto kind = [&](std::uint32_t row) {
    const SqlValue& v = answer.value(row, column);
    return std::holds_alternative<std::monostate>(v) ? 2 : std::holds_alternative<SqlText>(v) ? 1 : 0;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (kind(a) != kind(b)) return kind(a) < kind(b);
    if (kind(a) == 2) return false;
    if (descending) std::swap(a, b);
    const auto* x = std::get_if<std::int64_t>(&answer.value(a, column));
    const auto* y = std::get_if<std::int64_t>(&answer.value(b, column));
    if (x && y) return *x < *y;
    if (kind(a) == 0) return *answer.number(a, column) < *answer.number(b, column);
    return answer.text(a, column) < answer.text(b, column);
  });
  return rows;
}

std::string_view word_before(std::string_view text, std::size_t caret) {
  const auto in_word = [](char c) { return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  caret = std::min(caret, text.size());
  std::size_t begin = caret;
  while (begin > 0 && in_word(text[begin - 1])) --begin;
  return text.substr(begin, caret - begin);
}

std::vector<std::string> completions(const SqlAnswer& answer, std::string_view text, std::size_t caret, std::size_t most) {
  const std::string_view word = word_before(text, caret);
  std::vector<std::string> own, found;
  const bool is_word = std::binary_search(answer.words.begin(), answer.words.end(), word);
  if (word.empty() || is_word) return found;
  const std::vector<sql::Token> before = sql::tokens_of(text.substr(0, static_cast<std::size_t>(word.data() - text.data())));
  const bool wants_table = !before.empty() && (sql::is_word(before.back(), "from") || sql::is_word(before.back(), "join"));
  const auto add = [&](std::vector<std::string>& to, std::string_view name) {
    const bool is_known = std::find(own.begin(), own.end(), name) != own.end();
    if (name.size() > word.size() && name.starts_with(word) && !is_known) to.emplace_back(name);
  };
  for (const sql::Token& token : sql::tokens_of(text))
    if (token.kind == sql::Token::Kind::word) add(own, token.text);
  if (wants_table)
    for (const sql::Table* table : answer.tables) add(found, table->name());
  else
    for (const std::string& candidate : answer.words) add(found, candidate);
  std::stable_sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  found.insert(found.begin(), own.begin(), own.end());
  if (found.size() > most) found.resize(most);
  return found;
}

void remember_query(std::vector<std::string>& queries, const std::string& query) {
  std::erase(queries, query);
  queries.insert(queries.begin(), query);
  if (queries.size() > kMostQueries) queries.resize(kMostQueries);
}

}  // namespace gapscope
