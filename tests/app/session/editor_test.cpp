#include "app/session/editor.h"

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("the editor is called as its setting says, and a path is never split or taken for a format") {
  using Words = std::vector<std::string>;
  CHECK(editor_command("", "/a b/%s.py", 12) == Words{"code", "-g", "/a b/%s.py:12"});
  CHECK(editor_command("pycharm --line {line} {file}", "/a b/c.py", 3) == Words{"pycharm", "--line", "3", "/a b/c.py"});
  CHECK(editor_command("subl", "/{line}.py", 1) == Words{"subl", "/{line}.py:1"});
}

TEST_CASE("a file that is not here is said so, and nothing is started") {
  CHECK(open_in_editor("/nowhere/x.py", 1)->message.find("/nowhere/x.py is not on this machine") == 0);
}
