#pragma once
// The command line: `gapscope [TRACE]` opens the window, `gapscope COMMAND ...` is a row of the table in commands.cpp.
// Exit codes are the same everywhere. What goes wrong is one sentence on stderr.
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gapscope {

enum ExitCode : int {
  kOk = 0,
  kBadInput = 1,
  kUsage = 2,
  kFailed = 3
};  // kFailed: a condition of --fail-on or --fail-if holds

struct Subcommand {
  const char* name;
  const char* help;
  // Adds the arguments to `arguments`; what it returns does the work once they are parsed, and gives the exit code.
  std::function<int()> (*declare)(CLI::App& arguments);
};

// Every subcommand, in the order of the help.
std::span<const Subcommand> subcommands();
// `gapscope [TRACE]`, without a subcommand.
std::function<int()> declare_window(CLI::App& arguments);

// `arguments` without the program's own name.
int run_command_line(std::vector<std::string> arguments);

// The row of the table that a mistyped `word` was probably meant to be; nullptr when none is near.
const Subcommand* did_you_mean(const std::string& word);

}  // namespace gapscope
