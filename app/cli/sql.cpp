#include "app/cli/sql.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/sql_output.h"
#include "app/cli/sql_prompt.h"
#include "app/session/captured_trace.h"
#include "core/base/text.h"
#include "core/ranks/rank_head.h"
#include "core/ranks/run_report.h"
#include "core/sql/database.h"
#include "core/sql/world.h"

namespace gapscope {
namespace {

int complain(const std::string& sentence, int code) {
  std::fprintf(stderr, "gapscope: %s\n", printable(sentence).c_str());
  return code;
}

// What is packed so that it can only be read from its start is kept in a nameless file, so that args can be read again.
std::string spill_folder() {
  std::error_code trouble;
  const auto folder = std::filesystem::temp_directory_path(trouble);
  return trouble ? std::string() : folder.string();
}

constexpr std::size_t kMostQueryBytes = std::size_t{16} << 20;

Result<std::string> read_all(std::istream& in, const std::string& shown) {
  std::string text(kMostQueryBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return Error{fmt::format("{} cannot be read.", shown)};
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMostQueryBytes)
    return Error{fmt::format("{} holds more than {}, which is no query.", shown, format_bytes(kMostQueryBytes))};
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

sql::Database* interruptible = nullptr;  // what Ctrl+C ends
void on_interrupt(int) {
  if (interruptible != nullptr) interruptible->cancel();
}

class Interruptible {
 public:
  explicit Interruptible(sql::Database& database) {
    interruptible = &database;
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    ::sigaction(SIGINT, &action, &before_);
  }
  ~Interruptible() {
    ::sigaction(SIGINT, &before_, nullptr);
    interruptible = nullptr;
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  struct sigaction before_ {};
};

// What was written last could not be: why, and 0 before.
struct Output {
  int trouble = 0;
  bool write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return true;
    trouble = errno;
    return false;
  }
};

std::unique_ptr<sql::RowSink> sink_for(SqlFormat format, Output& output) {
  const WriteText write = [&output](std::string_view text) { return output.write(text); };
  switch (format) {
    case SqlFormat::csv: return csv_rows(write);
    case SqlFormat::json: return json_rows(write);
    case SqlFormat::text: break;
  }
  return text_rows(write);
}

int run_script(sql::Database& database, const std::string& script, SqlFormat format) {
  Output output;
  const auto error = database.run(script, *sink_for(format, output));
  if (output.trouble != 0)
    return complain(fmt::format("standard output cannot be written: {}.", std::strerror(output.trouble)), kBadInput);
  return error ? complain(error->message, kBadInput) : kOk;
}

// Standard input is no folder.
RankFiles run_of(const std::vector<std::string>& traces) {
  if (traces.size() == 1 && traces[0] == "-") return {{"-"}, {}};
  return find_rank_files(traces);
}

// Of many files the one that says that it is the lowest rank; the first where none says it.
const std::string& lowest_rank(const std::vector<std::string>& files) {
  std::size_t lowest = 0;
  std::int64_t rank = -1;
  for (std::size_t i = 0; i < files.size() && files.size() > 1; ++i)
    if (const std::int64_t said = read_rank_head(files[i]).rank; said >= 0 && (rank < 0 || said < rank))
      lowest = i, rank = said;
  return files[lowest];
}

}  // namespace

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
    return complain("standard input is the trace or the query, not both: give one as a file.", kUsage);
  Result<std::string> script = asks ? Result<std::string>(std::string()) : query_of(options);
  if (!script) return complain(script.error().message, kBadInput);
  const RankFiles run = run_of(options.traces);
  if (run.files.empty()) return complain(run.problems.front(), kBadInput);
  LoadOptions load;
  load.spill_folder = spill_folder();
  const auto trace = load_captured_trace(lowest_rank(run.files), load, named_capture());
  if (!trace) return complain(trace.error().message, kBadInput);
  sql::Options database_options;
  database_options.spill_folder = load.spill_folder;
  if (run.files.size() > 1) database_options.run.files = run.files;
  if (options.time_limit_s > 0)
    database_options.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.time_limit_s * 1000));
  sql::Database database(*trace, database_options);
  const Interruptible ctrl_c(database);
  if (!asks && script->starts_with('.')) {
    const Result<std::string> said = dot_command(database, *script);
    return said ? print(*said) : complain(said.error().message, kBadInput);
  }
  if (asks) return run_prompt(database, [&](const std::string& text) { return run_script(database, text, options.format); });
  const int code = run_script(database, *script, options.format);
  if (const RunReport* report = database.world().run_if_known(); report != nullptr && run.files.size() > 1)
    for (const std::string& problem : report->run.problems) complain(problem, code);
  return code;
}

}  // namespace gapscope
