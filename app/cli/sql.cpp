// Over 400 lines: the rows of a query in three forms, and the prompt.
// `gapscope sql TRACE... [QUERY | --file Q.sql | -] [--csv|--json|--raw]`: SQL over a trace, read only, the rows on stdout. Of
// a folder or several files, the ranks of one run, the lowest rank is the trace, and the tables rank and collective describe
// all.
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

#include <editline/readline.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/raw_columns.h"
#include "app/cli/subcommands.h"
#include "app/session/captured_trace.h"
#include "core/base/readable_folders.h"
#include "core/base/table/csv.h"
#include "core/base/temporary_file.h"
#include "core/base/text.h"
#include "core/ranks/rank_head.h"
#include "core/ranks/run_report.h"
#include "core/sql/database.h"
#include "core/sql/tokens.h"
#include "core/sql/world.h"

namespace gapscope {
namespace {

enum class SqlFormat { text, csv, json, raw };

struct SqlOptions {
  std::vector<std::string> traces;  // one, "-" being standard input; or several, folders too
  std::string query;  // "-": from standard input; empty: from `file`, or a prompt where standard input is a terminal
  std::string file;
  SqlFormat format = SqlFormat::text;
  double time_limit_s = 300;  // 0: none
};

using sql::Cell;
constexpr std::size_t kMeasuredRows = 1000;
constexpr std::size_t kWidest = 80;
constexpr std::size_t kPiece = 64 * 1024;

std::string number_text(const Cell& cell) {
  return cell.kind == Cell::Kind::integer ? std::to_string(cell.integer) : fmt::format("{}", cell.real);
}

// A value as JSON.
std::string json_of(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::null: return "null";
    case Cell::Kind::integer: return std::to_string(cell.integer);
    case Cell::Kind::real: return std::isfinite(cell.real) ? nlohmann::json(cell.real).dump() : "null";
    case Cell::Kind::text: break;
  }
  std::string text = json_text(nlohmann::ordered_json(cell.text), -1);
  text.pop_back();
  return text;
}

// What was written last could not be: why, and 0 before.
struct Output {
  int trouble = 0;
  bool write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return true;
    trouble = errno;
    return false;
  }
};

// Gathers what is written into larger pieces; what cannot be written ends the query.
class Buffered : public sql::RowSink {
 public:
  explicit Buffered(Output& output) : output_(output) {}

 protected:
  bool put(std::string_view text) {
    piece_ += text;
    return piece_.size() < kPiece || flush();
  }
  bool flush() {
    const bool written = piece_.empty() || output_.write(piece_);
    piece_.clear();
    return written;
  }

 private:
  Output& output_;
  std::string piece_;
};

// A line a row, columns wide enough for the first thousand rows; long texts are cut in the middle.
class TextRows final : public Buffered {
 public:
  using Buffered::Buffered;
  bool begin(const std::vector<std::string>& columns) override {
    header_ = columns;
    first_.clear();
    widths_.clear();
    rows_ = 0;
    return true;
  }
  bool row(std::span<const Cell> cells) override {
    ++rows_;
    std::vector<Value> values;
    for (const Cell& cell : cells) values.push_back(value_of(cell));
    if (!widths_.empty()) return put_row(values);
    first_.push_back(std::move(values));
    return first_.size() < kMeasuredRows || put_first();
  }
  bool end() override {
    if (widths_.empty() && !put_first()) return false;
    return put(fmt::format("{} row{}\n", format_count(static_cast<std::int64_t>(rows_)), rows_ == 1 ? "" : "s")) && flush();
  }

 private:
  struct Value {
    std::string text;
    bool is_number = false;
  };
  static Value value_of(const Cell& cell) {
    if (cell.kind == Cell::Kind::null) return {"-"};
    if (cell.kind == Cell::Kind::text) return {elide_middle(printable(cell.text), kWidest)};
    return {number_text(cell), true};
  }
  bool put_first() {
    std::vector<Value> header;
    for (std::string& name : header_) header.push_back({elide_middle(printable(name), kWidest)});
    widths_.assign(std::max<std::size_t>(1, header.size()), 0);
    const auto measure = [&](const std::vector<Value>& row) {
      for (std::size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], utf8_length(row[i].text));
    };
    measure(header);
    for (const auto& row : first_) measure(row);
    for (std::size_t i = 0; i < header.size(); ++i)
      header[i].is_number =
          !first_.empty() && std::any_of(first_.begin(), first_.end(), [&](const auto& row) { return row[i].is_number; });
    bool go_on = put_row(header);
    for (const auto& row : first_) go_on = go_on && put_row(row);
    first_.clear();
    return go_on;
  }
  bool put_row(const std::vector<Value>& values) {
    std::string line;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string space(widths_[i] - std::min(widths_[i], utf8_length(values[i].text)), ' ');
      line += i == 0 ? "" : "  ";
      line += values[i].is_number ? space + values[i].text : values[i].text + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return put(line + '\n');
  }

  std::vector<std::string> header_;
  std::vector<std::vector<Value>> first_;
  std::vector<std::size_t> widths_;
  std::uint64_t rows_ = 0;
};

// Cells of core/base/table/csv.h under a header; NULL is empty.
class CsvRows final : public Buffered {
 public:
  using Buffered::Buffered;
  bool begin(const std::vector<std::string>& columns) override {
    std::string line;
    for (const std::string& name : columns) line += (line.empty() ? "" : ",") + csv_cell(name);
    return put(line + '\n');
  }
  bool row(std::span<const Cell> cells) override {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += ',';
      if (cells[i].kind == Cell::Kind::text)
        line += csv_cell(cells[i].text);
      else if (cells[i].kind != Cell::Kind::null)
        line += number_text(cells[i]);
    }
    return put(line + '\n');
  }
  bool end() override { return flush(); }
};

// {"columns": [...], "rows": [[...], ...]} and a line end, one for each statement that gives rows.
class JsonRows final : public Buffered {
 public:
  using Buffered::Buffered;
  bool begin(const std::vector<std::string>& columns) override {
    rows_ = 0;
    std::string text = json_text(nlohmann::ordered_json(columns), -1);
    text.pop_back();
    return put("{\"columns\": " + text + ", \"rows\": [");
  }
  bool row(std::span<const Cell> cells) override {
    std::string line = rows_++ == 0 ? "\n [" : ",\n [";
    for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ", ") + json_of(cells[i]);
    return put(line + ']');
  }
  bool end() override { return put(rows_ == 0 ? "]}\n" : "\n]}\n") && flush(); }

 private:
  std::uint64_t rows_ = 0;
};

constexpr const char* kHelp =
    "A statement ends with a semicolon. Times are nanoseconds.\n"
    ".tables          every table, with a description\n"
    ".schema [TABLE]  its columns, with their units\n"
    ".quit            or Ctrl+D\n"
    "Ctrl+C ends a query that takes too long.\n";

struct Free {
  void operator()(char* text) const { std::free(text); }
};

std::string second_word(const std::string& line) {
  const std::size_t space = line.find(' ');
  if (space == std::string::npos) return {};
  const std::size_t begin = line.find_first_not_of(' ', space);
  return begin == std::string::npos ? std::string() : line.substr(begin, line.find_last_not_of(" ;") - begin + 1);
}

// What a line that begins with a dot prints: .tables, .schema [TABLE], .help. An Error where it is none of them.
Result<std::string> dot_command(const sql::Database& database, const std::string& line) {
  const std::string word = line.substr(0, line.find_first_of(" ;"));
  if (word == ".help") return std::string(kHelp);
  if (word == ".tables") return database.tables_text();
  if (word == ".schema") {
    const std::string table = second_word(line), text = database.schema_text(table);
    if (text.empty()) return Error{"There is no table " + printable(table) + ". .tables lists them."};
    return text;
  }
  return Error{"There is no command " + printable(word) + ". .help lists them."};
}

// Asks until the end of input or .quit. `run` runs whole statements and says itself what went wrong. The exit code.
int run_prompt(sql::Database& database, const std::function<int(const std::string& script)>& run) {
  std::fputs(".tables, .schema and .help list what is available. A statement ends with a semicolon.\n", stdout);
  std::string script;
  for (;;) {
    const std::unique_ptr<char, Free> line(::readline(script.empty() ? "gapscope> " : "     ...> "));
    if (line == nullptr) break;
    const std::string text = line.get();
    if (text.find_first_not_of(" \t") == std::string::npos) continue;
    ::add_history(text.c_str());
    if (script.empty() && text.starts_with('.')) {
      if (text.starts_with(".quit") || text.starts_with(".exit")) return kOk;
      const Result<std::string> said = dot_command(database, text);
      std::fputs((said ? *said : said.error().message + '\n').c_str(), stdout);
      continue;
    }
    script += text + '\n';
    if (sql::is_unfinished(script)) continue;
    run(std::exchange(script, {}));
  }
  std::fputs("\n", stdout);
  return kOk;
}

constexpr std::size_t kMostQueryBytes = std::size_t{16} << 20;

Result<std::string> read_all(std::istream& in, const std::string& shown) {
  std::string text(kMostQueryBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return Error{fmt::format("{} cannot be read.", shown)};
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMostQueryBytes)
    return Error{fmt::format("{} holds more than {}, which is not a query.", shown, format_bytes(kMostQueryBytes))};
  return text;
}

Result<std::string> query_of(const SqlOptions& options) {
  if (!options.file.empty()) {
    std::ifstream in(options.file, std::ios::binary);
    std::error_code ignored;
    if (!in || std::filesystem::is_directory(options.file, ignored))
      return Error{fmt::format("{} cannot be read: {}.", options.file, std::strerror(errno ? errno : EISDIR))};
    return read_all(in, options.file);
  }
  if (!options.query.empty() && options.query != "-") return options.query;
  return read_all(std::cin, "Standard input");
}

// What handlers of signals know. One function of SQL may take long, and SQLite does not look up meanwhile: then a second Ctrl+C
// ends the program, and so does an alarm soon after the time limit.
sql::Database* interruptible = nullptr;  // what Ctrl+C ends; null while no script runs
struct sigaction before_interruptible {};
volatile std::sig_atomic_t interrupts = 0;  // since the script began
std::string last_words;
constexpr double kMostAfterLimit_s = 2;

void on_interrupt(int) {
  if (interruptible == nullptr) return;
  interruptible->cancel();
  interrupts = interrupts + 1;
  if (interrupts < 2) return;
  ::sigaction(SIGINT, &before_interruptible, nullptr);
  ::raise(SIGINT);
}

void on_alarm(int) {
  remove_temporaries();
  [[maybe_unused]] const ssize_t said = ::write(STDERR_FILENO, last_words.data(), last_words.size());
  std::_Exit(kBadInput);
}

class Interruptible {
 public:
  Interruptible() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    ::sigaction(SIGINT, &action, &before_interruptible);
    action.sa_handler = on_alarm;
    ::sigaction(SIGALRM, &action, nullptr);
  }
  ~Interruptible() { ::sigaction(SIGINT, &before_interruptible, nullptr); }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

// While a script runs.
class Watched {
 public:
  Watched(sql::Database& database, double time_limit_s) {
    interrupts = 0;
    interruptible = &database;
    last_words = fmt::format("gapscope: {}\n", sql::out_of_time_sentence(time_limit_s));
    if (time_limit_s > 0) ring_in(time_limit_s + kMostAfterLimit_s);
  }
  ~Watched() {
    ring_in(0);
    interruptible = nullptr;
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  static void ring_in(double seconds) {
    const auto whole = static_cast<time_t>(seconds);
    const itimerval once{{}, {whole, static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)}};
    ::setitimer(ITIMER_REAL, &once, nullptr);
  }
};

std::unique_ptr<sql::RowSink> sink_for(SqlFormat format, Output& output) {
  switch (format) {
    case SqlFormat::csv: return std::make_unique<CsvRows>(output);
    case SqlFormat::json: return std::make_unique<JsonRows>(output);
    case SqlFormat::raw: return std::make_unique<RawColumns>([&output](std::string_view bytes) { return output.write(bytes); });
    case SqlFormat::text: break;
  }
  return std::make_unique<TextRows>(output);
}

int run_script(sql::Database& database, const std::string& script, const SqlOptions& options) {
  Output output;
  const Watched watched(database, options.time_limit_s);
  const auto error = database.run(script, *sink_for(options.format, output));
  if (output.trouble != 0)
    return complain(kBadInput, fmt::format("standard output cannot be written: {}.", std::strerror(output.trouble)));
  return error ? complain(kBadInput, error->message) : kOk;
}

// Standard input is no folder.
RankFiles run_of(const std::vector<std::string>& traces) {
  if (traces.size() == 1 && traces[0] == "-") return {{"-"}, {}};
  return find_rank_files(traces);
}

// Traces and a query as they were typed one after the other: the last is the query, unless a file or folder is called so, or it
// is the only one, or the query was given otherwise.
void take_words(std::vector<std::string> words, SqlOptions& options) {
  std::error_code ignored;
  const bool has_query =
      words.size() > 1 && options.file.empty() && options.query.empty() && !std::filesystem::exists(words.back(), ignored);
  if (has_query) options.query = std::move(words.back()), words.pop_back();
  options.traces = std::move(words);
}

int run_sql(const SqlOptions& options) {
  const bool asks = options.query.empty() && options.file.empty() && ::isatty(STDIN_FILENO) != 0;
  const bool of_stdin = options.traces.front() == "-";
  if (of_stdin && options.file.empty() && (options.query.empty() || options.query == "-"))
    return complain(kUsage, "standard input is the trace or the query, not both: give one as a file.");
  Result<std::string> script = asks ? Result<std::string>(std::string()) : query_of(options);
  if (!script) return complain(kBadInput, script.error().message);
  const RankFiles run = run_of(options.traces);
  if (run.files.empty()) return complain(kBadInput, run.problems.front());
  LoadOptions load = load_options();
  // What is packed so that it can only be read from its start is unpacked into a nameless file, so that args can be read again.
  load.spill_folder = spill_folder();
  const auto trace = load_captured_trace(lowest_rank(run.files), load, trace_arguments().capture);
  if (!trace) return complain(kBadInput, trace.error().message);
  sql::Options database_options;
  database_options.spill_folder = load.spill_folder;
  database_options.hides_environment = is_reading_confined();  // for a server, whose clients need not be this machine's user
  if (run.files.size() > 1) database_options.run.files = run.files;
  if (options.time_limit_s > 0)
    database_options.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.time_limit_s * 1000));
  sql::Database database(*trace, database_options);
  const Interruptible ctrl_c;
  if (!asks && script->starts_with('.')) {
    const Result<std::string> said = dot_command(database, *script);
    return said ? print(*said) : complain(kBadInput, said.error().message);
  }
  if (asks) return run_prompt(database, [&](const std::string& text) { return run_script(database, text, options); });
  const int code = run_script(database, *script, options);
  if (const RunReport* report = database.world().run_if_known(); report != nullptr && run.files.size() > 1)
    for (const std::string& problem : report->run.problems) complain(code, problem);
  return code;
}

}  // namespace

std::function<int()> declare_sql(CLI::App& arguments) {
  auto options = std::make_shared<SqlOptions>();
  auto words = std::make_shared<std::vector<std::string>>();
  arguments
      .add_option("TRACE", *words,
                  "the trace, or - for standard input, or the ranks of one run (a folder or several files). Then the query: "
                  "statements, separated by semicolons, or - for standard input; default: a prompt")
      ->required()
      ->type_name("TRACE... [QUERY]");
  add_capture(arguments);
  add_steps(arguments);
  add_roofs(arguments);
  add_plain(arguments);
  auto* query =
      arguments.add_option("--query", options->query, "the query, if it could be taken for a file name")->type_name("QUERY");
  arguments.add_option("--file", options->file, "a file of statements")->type_name("Q.sql")->excludes(query);
  arguments.add_option("--time-limit", options->time_limit_s, "seconds after which the statements end; 0: no limit")
      ->check(number_between(0, kMostSeconds))
      ->capture_default_str();
  auto* csv = arguments.add_flag_callback(
      "--csv", [options] { options->format = SqlFormat::csv; }, "print CSV");
  auto* json = arguments
                   .add_flag_callback(
                       "--json", [options] { options->format = SqlFormat::json; },
                       "print JSON: columns and rows, one object a statement")
                   ->excludes(csv);
  arguments
      .add_flag_callback(
          "--raw", [options] { options->format = SqlFormat::raw; }, "print columns as arrays for programs")
      ->excludes(csv)
      ->excludes(json);
  arguments.footer(
      "Tables as in Perfetto (slice, thread, process, args, flow, ...) and Gapscope's own (kernel, gpu_gap, step, ...).\n"
      ".tables and .schema, as QUERY or at the prompt, list what is available. Times are nanoseconds.");
  return [options, words] {
    take_words(*words, *options);
    return run_sql(*options);
  };
}

}  // namespace gapscope
