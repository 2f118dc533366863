#include "ui/start/path_completion.h"

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

TEST_CASE("a path without a beginning continues from the folder that is shown") {
  CHECK(meant_path("/data/", "step1.json") == "/data/step1.json");
  CHECK(meant_path("/data/", "/other/x.json") == "/other/x.json");
  CHECK(meant_path("/data/", "~/x.json") == "~/x.json");
  CHECK(meant_path("", "runs/x.json") == "runs/x.json");
}

TEST_CASE("enter takes the entry of that name, or the only one that continues from it") {
  REQUIRE(taken_entry("/data/step1", kFolder));
  CHECK(taken_entry("/data/step1", kFolder)->name == "step1.json");
  CHECK(taken_entry("ru", kFolder)->name == "runs");
  CHECK_FALSE(taken_entry("step", kFolder));
  CHECK_FALSE(taken_entry("zzz", kFolder));
  CHECK_FALSE(taken_entry("/data/", kFolder));
  const FolderView two{"/data", "", {{"a.json", false, 1}, {"a.json.gz", false, 1}}};
  REQUIRE(taken_entry("a.json", two));
  CHECK(taken_entry("a.json", two)->name == "a.json");
}

TEST_CASE("a copied path is read as terminals and file managers copy it") {
  CHECK(copied_path(" /data/a b.json\n") == "/data/a b.json");
  CHECK(copied_path("'/data/a.json'") == "/data/a.json");
  CHECK(copied_path("\"/data/a.json\"") == "/data/a.json");
  CHECK(copied_path("file:///data/a%20b%zz.json\r\nfile:///data/c.json") == "/data/a b%zz.json");
  CHECK(copied_path("file://host/data/a.json") == "/data/a.json");
  CHECK(copied_path("~/a.json") == "~/a.json");
  for (const char* text : {"", " \n", "aten::mm", "a/b.json", "file://", "/", "/data/%00", "file:///data/%00"}) {
    CAPTURE(text);
    CHECK(copied_path(text).has_value() == (std::string(text) == "/data/%00"));
  }
}

TEST_CASE("paths that end alike are distinguished by their folders") {
  const std::vector<std::string> paths{"/data/run1/out/t.json", "/data/run2/out/t.json", "/data/run2/u.json", "/t.json",
                                       "t.json"};
  const std::vector<PathName> names = names_of_paths(paths);
  CHECK(names[0].name == "t.json");
  CHECK(names[0].folders == "run1/out");
  CHECK(names[1].folders == "run2/out");
  CHECK(names[2].name == "u.json");
  CHECK(names[2].folders.empty());
  CHECK(names[3].folders == "/");
  CHECK(names[4].folders.empty());
}

TEST_CASE("the path of an entry can be typed on") {
  CHECK(entry_path(kFolder, kFolder.entries[0]) == "/data/runs/");
  CHECK(entry_path({"/", "", {}}, kFolder.entries[1]) == "/step1.json");
}
