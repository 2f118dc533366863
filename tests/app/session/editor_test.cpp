#include "app/session/editor.h"

#include <doctest/doctest.h>

#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/support/process_state.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;

TEST_CASE("the editor is called as its setting says, and a path is never split or taken for a format") {
  using Words = std::vector<std::string>;
  CHECK(editor_command("", "/a b/%s.py", 12) == Words{"code", "-g", "/a b/%s.py:12"});
  CHECK(editor_command("pycharm --line {line} {file}", "/a b/c.py", 3) == Words{"pycharm", "--line", "3", "/a b/c.py"});
  CHECK(editor_command("subl", "/{line}.py", 1) == Words{"subl", "/{line}.py:1"});
  CHECK(editor_command("$EDITOR", "/a b/c.py", 7, "nvim -p") ==
        Words{"x-terminal-emulator", "-e", "nvim", "-p", "+7", "/a b/c.py"});
  CHECK(editor_command("$EDITOR", "+!sh", 7, "vi") == Words{"x-terminal-emulator", "-e", "vi", "+7", "./+!sh"});
  CHECK(editor_command("", "-x.py", 1) == Words{"code", "-g", "./-x.py:1"});
  CHECK(editor_command("subl {file}", "--a.py", 1) == Words{"subl", "./--a.py"});
}

TEST_CASE("a file that is not here is said so, and nothing is started") {
  CHECK(open_in_editor("", "/nowhere/x.py", 1)->message.find("/nowhere/x.py is not on this machine") == 0);
}

TEST_CASE("a saved file is handed to xdg-open by its path alone, and where that is missing it is said so") {
  const test::TempFolder folder;
  const std::string out = folder.path() / "asked";
  const std::string program = folder.write(
      "xdg-open", "#!/bin/sh\nprintf '%s %s' \"$#\" \"$1\" > '" + out + ".new'\nmv '" + out + ".new' '" + out + "'\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const test::SetVariable there("PATH", folder.path().string() + ":" + std::getenv("PATH"));
  CHECK_FALSE(open_on_desktop("-a b.html"));
  for (int i = 0; i < 1000 && !std::filesystem::exists(out); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::ifstream file(out);
  std::string said;
  std::getline(file, said);
  CHECK(said == "1 ./-a b.html");
  const test::SetVariable nowhere("PATH", "/nowhere");
  const auto error = open_on_desktop("/a/b.html");
  REQUIRE(error);
  CHECK(error->message.find("/a/b.html") != std::string::npos);
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
}

TEST_CASE("editors that have ended leave no zombies") {
  const test::TempFolder folder;
  const std::string file = folder.write("a.py", "");
  for (int i = 0; i < 4; ++i) {
    CHECK_FALSE(open_in_editor("true", file, 1));
    siginfo_t ended{};  // seen, and left to be waited for
    REQUIRE(::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) == 0);
  }
  int zombies = 0;
  while (::waitpid(-1, nullptr, WNOHANG) > 0) ++zombies;
  CHECK(zombies == 1);
}
