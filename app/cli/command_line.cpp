#include "app/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>

#include "app/cli/answers.h"
#include "app/cli/in_and_out.h"
#include "app/cli/manual.h"
#include "app/cli/nsight_export.h"
#include "app/cli/version.h"
#include "app/mcp/child.h"
#include "core/base/edit_distance.h"

namespace gapscope {
namespace {

constexpr const char* kAbout =
    "Opens PyTorch and CUDA profiler traces and answers one question: why is my GPU idle?\n"
    "Without a command it opens the window.";

// A first word that is a mistyped command rather than the trace that it would be taken for.
const Subcommand* mistyped_command(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with("-")) return nullptr;
  const auto is_this = [&](const Subcommand& row) { return arguments[0] == row.name; };
  std::error_code ignored;
  if (std::ranges::any_of(subcommands(), is_this) || std::filesystem::exists(arguments[0], ignored)) return nullptr;
  return did_you_mean(arguments[0]);
}

// Parsed or printed: --help and --version end here with their text on stdout.
int parse_and_run(CLI::App& app, std::vector<std::string> arguments, const std::function<int()>& window) {
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream text;
      app.exit(error, text, text);
      return print(text.str());
    }
    std::string sentence = error.what();
    if (!sentence.ends_with('.')) sentence += '.';
    return complain(kUsage, sentence + " Run `gapscope --help` for what it takes.");
  }
  return app.get_subcommands().empty() ? window() : kOk;
}

// `record --counters [LIST] -- COMMAND`: of an option whose value may be missing CLI11 takes the -- for the end of its values,
// and COMMAND's own options for ours. With = between there is no doubt.
void join_counters(std::vector<std::string>& arguments) {
  const auto at = std::find(arguments.begin(), std::find(arguments.begin(), arguments.end(), "--"), "--counters");
  if (at == arguments.end() || *at == "--") return;
  const auto value = std::next(at);
  const bool has_value = value != arguments.end() && !value->starts_with("-");
  *at += has_value ? "=" + *value : "=all";
  if (has_value) arguments.erase(value);
}

}  // namespace

const Subcommand* did_you_mean(const std::string& word) {
  constexpr std::size_t kNear = 2;  // a swap, or two slips of the finger
  const auto distance = [&](const Subcommand& row) { return edit_distance(word, row.name); };
  const auto table = subcommands();
  const auto best = std::ranges::min_element(table, {}, distance);
  return best != table.end() && distance(*best) <= kNear ? &*best : nullptr;
}

int run_command_line(std::vector<std::string> arguments) {
  // From a server of ours, which is why no help names it.
  const std::size_t words = arguments.size();
  if (const std::optional<Error> trouble = confine_as_asked(arguments)) return complain(kUsage, trouble->message);
  NsightExports exports;
  if (words == arguments.size())  // a server starts nothing and writes nothing
    if (const std::optional<Error> trouble = exports.replace_reports(arguments)) return complain(kBadInput, trouble->message);
  if (!arguments.empty() && arguments[0] == "--answer")
    return run_answers({std::next(arguments.begin()), arguments.end()});  // likewise, from the Python package
  join_counters(arguments);
  if (const Subcommand* meant = mistyped_command(arguments)) {
    return complain(kUsage, "\"" + arguments[0] + "\" is neither a file nor a command. Did you mean \"" + meant->name + "\"?");
  }
  CLI::App app(kAbout, "gapscope");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(0, 1);
  const std::function<int()> window = declare_window(app);
  app.add_flag_callback(
      "--export", [] {},
      "with any command: export reports of Nsight Systems (.nsys-rep) with nsys first, to a temporary folder; "
      "--export=keep: next to the report, to stay");
  int exit_code = kOk;
  for (const Subcommand& row : subcommands()) {
    CLI::App* command = app.add_subcommand(row.name, row.help);
    command->final_callback([&exit_code, run = row.declare(*command)] { exit_code = run(); });
  }
  // For the package, which is why no help names it.
  if (arguments.size() == 2 && arguments[0] == "--write-manual") return write_manual(app, arguments[1]);
  const int parsed = parse_and_run(app, std::move(arguments), window);
  return parsed == kOk ? exit_code : parsed;
}

}  // namespace gapscope
