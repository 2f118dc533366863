#include "app/cli/command_line.h"

#include <doctest/doctest.h>

#include <CLI/CLI.hpp>
#include <set>

using namespace gapscope;

TEST_CASE("every subcommand has a name of its own and a line of help") {
  std::set<std::string> names;
  for (const Subcommand& row : subcommands()) {
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(std::string(row.help).empty());
  }
}

TEST_CASE("a slip of the finger finds the command that was meant, another word finds none") {
  REQUIRE(did_you_mean("screenshto") != nullptr);
  CHECK(did_you_mean("screenshto")->name == std::string("screenshot"));
  CHECK(did_you_mean("ifno")->name == std::string("info"));
  CHECK(did_you_mean("trace.json") == nullptr);
}

TEST_CASE("--help and --version are fine, a wrong use is exit code 2") {
  CHECK(run_command_line({"--version"}) == kOk);
  CHECK(run_command_line({"info", "--help"}) == kOk);
  CHECK(run_command_line({"info"}) == kUsage);
  CHECK(run_command_line({"screenshto", "a.json"}) == kUsage);
  CHECK(run_command_line({"info", "a.json", "--jsno"}) == kUsage);
  CHECK(run_command_line({"screenshot", "a.json", "-o", "b.png", "--size", "large"}) == kUsage);
}

TEST_CASE("every option that takes a number says which ones") {
  for (const Subcommand& row : subcommands()) {
    CLI::App arguments;
    const auto run = row.declare(arguments);
    for (const CLI::Option* option : arguments.get_options()) {
      CAPTURE(row.name);
      CAPTURE(option->get_name());
      for (const char* bare : {"INT", "UINT", "FLOAT"}) CHECK(option->get_type_name() != bare);
    }
  }
}

TEST_CASE("bad input is exit code 1") { CHECK(run_command_line({"info", "/no such file.json"}) == kBadInput); }

TEST_CASE("a command whose folders were not given open does not run") {
  CHECK(run_command_line({"--beneath=987654", "--version"}) == kUsage);
}
