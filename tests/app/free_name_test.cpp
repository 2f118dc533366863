#include "app/free_name.h"

#include <doctest/doctest.h>

#include "tests/support/temp_folder.h"

using gapscope::free_name_beside;

TEST_CASE("what is saved lies beside its trace under a name that no file has") {
  const gapscope::test::TempFolder folder;
  const std::string base = (folder.path() / "run.1").string();
  CHECK(free_name_beside(base + ".json.gz", ".png") == base + ".png");
  folder.write("run.1.png", "");
  CHECK(free_name_beside(base + ".json", ".png") == base + "-2.png");
}
