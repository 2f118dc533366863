#pragma once
// Queries over a trace, as tests want them.
#include <memory>
#include <string>
#include <vector>

#include "core/load/load_trace.h"
#include "core/sql/database.h"
#include "tests/support/real_traces.h"

namespace gapscope::test {

// Rows as texts: NULL is "NULL", reals with all their digits.
struct Answer {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string error;  // empty: it went well
};

class AnswerSink final : public sql::RowSink {
 public:
  explicit AnswerSink(Answer& answer) : answer_(answer) {}
  bool begin(const std::vector<std::string>& columns) override {
    answer_.columns = columns;
    return true;
  }
  bool row(std::span<const sql::Cell> cells) override {
    std::vector<std::string> row;
    for (const sql::Cell& cell : cells) {
      switch (cell.kind) {
        case sql::Cell::Kind::null: row.emplace_back("NULL"); break;
        case sql::Cell::Kind::integer: row.push_back(std::to_string(cell.integer)); break;
        case sql::Cell::Kind::real: row.push_back(std::to_string(cell.real)); break;
        case sql::Cell::Kind::text: row.emplace_back(cell.text); break;
      }
    }
    answer_.rows.push_back(std::move(row));
    return true;
  }

 private:
  Answer& answer_;
};

inline std::unique_ptr<sql::Database> database_of(const std::filesystem::path& path, const sql::Options& options = {}) {
  return std::make_unique<sql::Database>(load_once(path), options);
}
inline std::unique_ptr<sql::Database> database_of_text(std::string_view text) {
  const auto loaded = load_trace_from_text(text);
  if (!loaded) throw std::runtime_error(loaded.error().message);
  return std::make_unique<sql::Database>(*loaded, sql::Options{});
}

inline Answer ask(sql::Database& database, std::string_view script) {
  Answer answer;
  AnswerSink sink(answer);
  if (const auto error = database.run(script, sink)) answer.error = error->message;
  return answer;
}

// The only value of the only row; the error instead where there is one.
inline std::string one(sql::Database& database, std::string_view script) {
  const Answer answer = ask(database, script);
  if (!answer.error.empty()) return answer.error;
  return answer.rows.size() == 1 && answer.rows[0].size() == 1 ? answer.rows[0][0]
                                                               : std::to_string(answer.rows.size()) + " rows";
}

// Rows as one text: values by "|", rows by "\n".
inline std::string rows(sql::Database& database, std::string_view script) {
  const Answer answer = ask(database, script);
  std::string out = answer.error;
  for (const auto& row : answer.rows) {
    if (!out.empty()) out += '\n';
    for (std::size_t i = 0; i < row.size(); ++i) out += (i > 0 ? "|" : "") + row[i];
  }
  return out;
}

}  // namespace gapscope::test
