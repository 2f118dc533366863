#include "app/screenshot_name.h"

#include <doctest/doctest.h>

#include "tests/support/temp_folder.h"

using gapscope::free_screenshot_name;

TEST_CASE("a screenshot lies beside its trace under a name that no file has") {
  const gapscope::test::TempFolder folder;
  const std::string base = (folder.path() / "run.1").string();
  CHECK(free_screenshot_name(base + ".json.gz") == base + ".png");
  folder.write("run.1.png", "");
  CHECK(free_screenshot_name(base + ".json") == base + "-2.png");
}
