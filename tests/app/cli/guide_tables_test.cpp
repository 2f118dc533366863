// The guide's tables of keys, mouse and commands are those of the program. With GAPSCOPE_WRITE_GUIDE=1 they are written.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "core/base/text.h"
#include "core/diagnose/guide.h"
#include "tests/support/source_folder.h"
#include "ui/commands.h"

using namespace gapscope;

namespace {

std::string keys_table() {
  std::string out;
  for (const Menu menu : kMenus) {
    out += fmt::format("{}### {}\n\n| command | key | does |\n|---|---|---|\n", out.empty() ? "" : "\n", menu_title(menu));
    for (const Command& command : commands())
      if (command.menu == menu) out += fmt::format("| {} | {} | {} |\n", command.title, chords_text(command), command.help);
  }
  return out;
}

std::string mouse_table() {
  std::string out = "| gesture | does |\n|---|---|\n";
  for (const MouseHelp& row : mouse_help()) out += fmt::format("| {} | {} |\n", row.gesture, row.help);
  return out;
}

std::string commands_table() {
  std::string out = "| command | does |\n|---|---|\n";
  for (const Subcommand& row : subcommands()) out += fmt::format("| `{}` | {} |\n", row.name, row.help);
  return out;
}

void check_table(const std::string& page, const std::string& name, const std::string& table) {
  const std::filesystem::path path = test::source_folder() / "assets/guide" / (page + ".md");
  std::stringstream read;
  read << std::ifstream(path).rdbuf();
  std::string text = read.str();
  const std::string begin = "<!-- " + name + " -->\n", end = "<!-- end of " + name + " -->";
  const std::size_t from = text.find(begin), to = text.find(end);
  REQUIRE_MESSAGE((from != text.npos && to != text.npos), page, " has no place for the table ", name);
  text.replace(from + begin.size(), to - from - begin.size(), table);
  if (std::getenv("GAPSCOPE_WRITE_GUIDE")) std::ofstream(path) << text;
  CHECK_MESSAGE((std::getenv("GAPSCOPE_WRITE_GUIDE") || read.str() == text), page,
                ": run this test with GAPSCOPE_WRITE_GUIDE=1 to bring the page up to date");
}

}  // namespace

TEST_CASE("the guide has every key of the window and every command, as the program's tables have them") {
  check_table("window", "keys", keys_table());
  check_table("window", "mouse", mouse_table());
  check_table("commands", "commands", commands_table());
}
