#include "app/state/sibling_name.h"

#include <doctest/doctest.h>

#include "app/state/exported_report.h"

using gapscope::sibling_name;

TEST_CASE("what is saved lies next to its trace") {
  CHECK(sibling_name("/a/run.1.json.gz", ".png") == "/a/run.1.png");
  CHECK(sibling_name("/a/run.1.json", ".part.json.gz") == "/a/run.1.part.json.gz");
  CHECK(sibling_name("", ".png") == "gapscope.png");
  CHECK(sibling_name("-", ".csv") == "gapscope.csv");
}

TEST_CASE("what is saved of a temporary export is next to its report") {
  gapscope::add_export("/tmp/export/0/run.sqlite", {"/a/run.nsys-rep", 700});
  CHECK(sibling_name("/tmp/export/0/run.sqlite", ".png") == "/a/run.png");
}
