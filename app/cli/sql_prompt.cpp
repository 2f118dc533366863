#include "app/cli/sql_prompt.h"

#include <editline/readline.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "app/cli/command_line.h"
#include "core/base/text.h"
#include "core/sql/tokens.h"

namespace gapscope {
namespace {

constexpr const char* kHelp =
    "A statement ends with a semicolon. Times are nanoseconds.\n"
    ".tables          every table, and what it holds\n"
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

}  // namespace

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

int run_prompt(sql::Database& database, const std::function<int(const std::string& script)>& run) {
  std::fputs(".tables, .schema and .help tell what there is. A statement ends with a semicolon.\n", stdout);
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

}  // namespace gapscope
