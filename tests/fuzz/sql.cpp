// Any text as SQL over a small trace: no crash, no file, and nothing changed: every table says afterwards what it said before.
// The same script says the same again; a query has as many rows whether they are counted, sorted or cut off; and as a condition
// the text chooses the rows for which it is true, however a table narrows down what it looks at. Half of the seeds are queries
// that people write.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/load/load_trace.h"
#include "core/sql/database.h"
#include "core/sql/tokens.h"
#include "tests/support/temp_folder.h"

namespace {

using namespace gapscope;

constexpr std::string_view kTrace = R"([
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9,"args":{"External id":1,"Input Dims":[[1,2],[]]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":3,"args":{"correlation":5}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":20,"dur":3,"args":{"correlation":5,"External id":1,"device":0,"stream":7,"grid":[1,1,1],"block":[32,1,1]}},
{"ph":"s","id":5,"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":2},
{"ph":"f","id":5,"cat":"ac2g","name":"ac2g","pid":0,"tid":7,"ts":20,"bp":"e"},
{"ph":"i","s":"t","name":"here","pid":1,"tid":1,"ts":3},
{"ph":"C","name":"c","pid":1,"ts":3,"args":{"v":1}}])";

constexpr std::size_t kMostRows = 10'000;

struct Rows final : sql::RowSink {
  std::size_t rows = 0;
  std::string text;  // of all rows, a cell a line
  bool begin(const std::vector<std::string>& columns) override {
    for (const std::string& column : columns) text += column + '\n';
    return true;
  }
  bool row(std::span<const sql::Cell> cells) override {
    for (const sql::Cell& cell : cells)
      text += fmt::format("{} {} {} {}\n", static_cast<int>(cell.kind), cell.integer, cell.real, cell.text);
    return ++rows < kMostRows;
  }
};

struct Answer {
  Rows of;
  std::string error;  // empty: none
  bool ok() const { return error.empty() && of.rows < kMostRows; }
  // Ended by what another time may not end it.
  bool is_chance() const { return error.find("time limit") != std::string::npos || error.find("memory") != std::string::npos; }
};

// From a file, since args are read from there.
std::shared_ptr<const Trace> loaded() {
  static const test::TempFolder folder;
  return *load_trace(folder.write("t.json", kTrace));
}

std::unique_ptr<sql::Database> opened() {
  static const auto trace = loaded();
  sql::Options options;
  options.time_limit = std::chrono::milliseconds(200);
  return std::make_unique<sql::Database>(trace, options);
}

Answer ask(sql::Database& database, std::string_view script) {
  Answer answer;
  if (const auto error = database.run(script, answer.of)) answer.error = error->message;
  return answer;
}

// What every table of the trace says.
std::string all_tables(sql::Database& database) {
  std::string all;
  for (const char* table :
       {"slice", "thread_track", "process", "args", "flow", "counter", "instant", "kernel", "trace_bounds", "stats"})
    all += ask(database, fmt::format("select * from {}", table)).of.text;
  return all;
}

// What may say something else the next time: chance, clocks, addresses in what SQLite explains.
bool is_about_chance(const std::vector<sql::Token>& tokens) {
  static const std::set<std::string, std::less<>> kChance = {
      "random", "randomblob", "current_date", "current_time", "current_timestamp", "date",
      "time",   "datetime",   "julianday",    "unixepoch",    "strftime",          "explain"};
  return std::any_of(tokens.begin(), tokens.end(), [](const sql::Token& token) {
    std::string word = sql::unquoted(token.text);
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return kChance.contains(word);
  });
}

// Whether what is in parentheses of ours stays in them.
bool is_closed(const std::vector<sql::Token>& tokens) {
  std::int64_t depth = 0;
  for (const sql::Token& token : tokens) {
    depth += sql::is_sign(token, '(') ? 1 : sql::is_sign(token, ')') ? -1 : 0;
    if (depth < 0 || sql::is_sign(token, ';')) return false;
  }
  return depth == 0;
}

void check_rows(sql::Database& database, std::string_view query, std::size_t rows) {
  const Answer counted = ask(database, fmt::format("select count(*) from (\n{}\n)", query));
  if (counted.ok() && counted.of.text != fmt::format("count(*)\n1 {} 0 \n", rows)) std::abort();
  const Answer sorted = ask(database, fmt::format("select * from (\n{}\n) order by 1 desc", query));
  if (sorted.ok() && sorted.of.rows != rows) std::abort();
  const std::size_t most = query.size() % 5;
  const Answer cut = ask(database, fmt::format("select * from (\n{}\n) limit {}", query, most));
  if (cut.ok() && cut.of.rows != std::min(most, rows)) std::abort();
}

// What a table finds where it may look by the condition, and what is left of all its rows where it may not.
void check_condition(sql::Database& database, std::string_view condition) {
  for (const char* table : {"slice", "args", "flow", "kernel"}) {
    const Answer found = ask(database, fmt::format("select count(*) as n from {} where (\n{}\n)", table, condition));
    if (!found.ok()) continue;
    const Answer left =
        ask(database, fmt::format("select sum(case when (\n{}\n) then 1 else 0 end) as n from {}", condition, table));
    if (left.ok() && left.of.text != found.of.text) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view script(reinterpret_cast<const char*>(data), size);
  static const std::string before = all_tables(*opened());
  const auto database = opened();
  const Answer first = ask(*database, script);
  if (all_tables(*database) != before) std::abort();
  const std::vector<sql::Token> tokens = sql::tokens_of(script);
  if (first.is_chance() || is_about_chance(tokens)) return 0;
  const auto fresh = opened();
  const Answer again = ask(*fresh, script);
  if (!again.is_chance() && (again.of.text != first.of.text || again.error != first.error)) std::abort();
  const std::vector<sql::StatementText> statements = sql::statements_of(script);
  if (statements.size() != 1 || !is_closed(sql::tokens_of(statements[0].text))) return 0;
  const auto begins = [&](std::string_view word) { return sql::is_word(tokens[0], word); };
  if (!begins("select") && !begins("with") && !begins("values"))
    check_condition(*fresh, statements[0].text);
  else if (first.ok())
    check_rows(*fresh, statements[0].text, first.of.rows);
  return 0;
}
