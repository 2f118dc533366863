#include "app/state/name_beside.h"

#include <doctest/doctest.h>

using gapscope::name_beside;

TEST_CASE("what is saved lies beside its trace") {
  CHECK(name_beside("/a/run.1.json.gz", ".png") == "/a/run.1.png");
  CHECK(name_beside("/a/run.1.json", ".part.json.gz") == "/a/run.1.part.json.gz");
  CHECK(name_beside("", ".png") == "gapscope.png");
  CHECK(name_beside("-", ".csv") == "gapscope.csv");
}
