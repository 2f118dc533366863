// Man pages and completions say what --help says, of every command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/manual.h"
#include "app/cli/version.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Program {
  CLI::App app{"About it.", "gapscope"};
  std::vector<std::function<int()>> kept;
  std::vector<ManualFile> files;

  Program() {
    kept.push_back(declare_window(app));
    for (const Subcommand& row : subcommands()) kept.push_back(row.declare(*app.add_subcommand(row.name, row.help)));
    files = manual_files(app);
  }
  std::string text(const std::string& path) const {
    const auto at = std::find_if(files.begin(), files.end(), [&](const ManualFile& f) { return f.path == path; });
    return at == files.end() ? "" : at->text;
  }
};

std::string in_troff(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '-' ? "\\-" : std::string(1, c);
  return out;
}

}  // namespace

TEST_CASE("every subcommand and every option of it is in its man page and in the completion of three shells") {
  const Program program;
  const std::string bash = program.text("bash-completion/completions/gapscope");
  const std::string zsh = program.text("zsh/vendor-completions/_gapscope");
  const std::string fish = program.text("fish/vendor_completions.d/gapscope.fish");
  const auto all = [](const auto*) { return true; };
  for (const CLI::App* command : program.app.get_subcommands(all)) {
    const std::string page = program.text("man/man1/gapscope-" + command->get_name() + ".1");
    CHECK_MESSAGE(page.find("\n.SH NAME\ngapscope\\-" + in_troff(command->get_name()) + " \\- ") != std::string::npos,
                  command->get_name());
    CHECK(program.text("man/man1/gapscope.1").find("gapscope\\-" + in_troff(command->get_name())) != std::string::npos);
    for (const std::string* completion : {&bash, &zsh, &fish})
      CHECK_MESSAGE(completion->find(command->get_name()) != std::string::npos, command->get_name());
    for (const CLI::Option* option : command->get_options(all)) {
      const std::string name = option->get_positional() ? option->get_name(true) : option->get_lnames().at(0);
      CHECK_MESSAGE(page.find(in_troff(name)) != std::string::npos, command->get_name() << " " << name);
      if (option->get_positional()) continue;
      CHECK(bash.find("--" + name) != std::string::npos);
      CHECK(zsh.find("--" + name + "[") != std::string::npos);
      CHECK(fish.find("__fish_seen_subcommand_from " + command->get_name() + "'") != std::string::npos);
      CHECK(fish.find("-l " + name) != std::string::npos);
    }
  }
}

TEST_CASE("bash takes the completion, and offers commands, options and the words of an option") {
  const Program program;
  const TempFolder folder;
  const std::string script = folder.write("gapscope", program.text("bash-completion/completions/gapscope"));
  const auto offers = [&](const std::string& words, const std::string& expected) {
    const std::string call = fmt::format(
        "bash -c 'source {}; COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _gapscope; [[ \" ${{COMPREPLY[*]}} \" == "
        "*\" {} \"* ]]'",
        script, words, expected);
    return std::system(call.c_str()) == 0;
  };
  CHECK(offers("gapscope inf", "info"));
  CHECK(offers("gapscope info --s", "--stages"));
  CHECK(offers("gapscope ranks --align b", "base") ==
        (program.text("bash-completion/completions/gapscope").find("base") != std::string::npos));
  CHECK_FALSE(offers("gapscope info --s", "--json"));
}

TEST_CASE("--version says version, commit and what was built in") {
  const std::string text = version_text();
  CHECK(text.starts_with("gapscope 0."));
  CHECK(text.find("\ncommit ") != std::string::npos);
  CHECK(text.find("\nbuilt in: ") != std::string::npos);
}

TEST_CASE("--write-manual writes them all below a folder, and says so where it cannot") {
  const TempFolder folder;
  CHECK(run_command_line({"--write-manual", folder.path().string()}) == kOk);
  CHECK(std::filesystem::exists(folder.path() / "man/man1/gapscope-info.1"));
  CHECK(run_command_line({"--write-manual", folder.write("file", "")}) == kBadInput);
}
