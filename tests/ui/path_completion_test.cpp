#include "ui/path_completion.h"

#include <doctest/doctest.h>

using namespace gapscope;

namespace {

const FolderView kFolder{
    "/data", "", {{"runs", true, 0}, {"step1.json", false, 1}, {"step2.json.gz", false, 1}, {"Other.json", false, 1}}};

}  // namespace

TEST_CASE("a typed path is a folder and the start of a name") {
  CHECK(split_typed("/a/b/c").folder == "/a/b/");
  CHECK(split_typed("/a/b/c").start == "c");
  CHECK(split_typed("c").folder.empty());
  CHECK(split_typed("c/").start.empty());
}

TEST_CASE("tab adds what all matches agree on, and a slash after the only folder") {
  CHECK(completed("/data/st", kFolder) == "/data/step");
  CHECK(completed("/data/step", kFolder) == "/data/step");
  CHECK(completed("/data/step1", kFolder) == "/data/step1.json");
  CHECK(completed("ru", kFolder) == "runs/");
  CHECK(completed("/data/zzz", kFolder) == "/data/zzz");
}

TEST_CASE("names that start so come before names that contain it") {
  CHECK(matching_entries(kFolder, "step").size() == 2);
  REQUIRE(matching_entries(kFolder, "othe").size() == 1);
  CHECK(matching_entries(kFolder, "")[0]->name == "runs");
  CHECK(matching_entries(kFolder, "zzz").empty());
}

TEST_CASE("the path of an entry can be typed on") {
  CHECK(entry_path(kFolder, kFolder.entries[0]) == "/data/runs/");
  CHECK(entry_path({"/", "", {}}, kFolder.entries[1]) == "/step1.json");
}
