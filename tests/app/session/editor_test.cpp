#include "app/session/editor.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/temp_folder.h"

using namespace gapscope;

TEST_CASE("the editor is called as its setting says, and a path is never split or taken for a format") {
  using Words = std::vector<std::string>;
  CHECK(editor_command("", "/a b/%s.py", 12) == Words{"code", "-g", "/a b/%s.py:12"});
  CHECK(editor_command("pycharm --line {line} {file}", "/a b/c.py", 3) == Words{"pycharm", "--line", "3", "/a b/c.py"});
  CHECK(editor_command("subl", "/{line}.py", 1) == Words{"subl", "/{line}.py:1"});
  CHECK(editor_command("$EDITOR", "/a b/c.py", 7, "nvim -p") ==
        Words{"x-terminal-emulator", "-e", "nvim", "-p", "+7", "/a b/c.py"});
}

TEST_CASE("a file that is not here is said so, and nothing is started") {
  CHECK(open_in_editor("", "/nowhere/x.py", 1)->message.find("/nowhere/x.py is not on this machine") == 0);
}

TEST_CASE("a recorded path leads to the file on this machine") {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder.path() / "model");
  std::ofstream(folder.path() / "model/train.py") << "import torch\n";
  const std::string here = (folder.path() / "model/train.py").string();
  const std::vector<std::string> paths = {"/elsewhere=/nowhere", "/workspace=" + folder.path().string(),
                                          "=" + folder.path().string()};
  CHECK(path_here("/workspace/model/train.py", paths) == here);
  CHECK(path_here("model/train.py", paths) == here);
  CHECK(path_here("/workspace/other.py", paths) == "/workspace/other.py");
  CHECK(path_here("/workspace/model/train.py", {"no equals sign"}) == "/workspace/model/train.py");
}
