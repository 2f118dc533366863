#include "app/window/folder_listing.h"

#include <doctest/doctest.h>

#include "tests/support/temp_folder.h"

using namespace gapscope;

TEST_CASE("a folder lists its folders, then what may be traces, each by name") {
  const test::TempFolder folder;
  for (const char* name :
       {"b.json", "a.json.gz", "c.json.xz", "d.json.zst", "notes.txt", "x.gz", ".hidden.json", "sub/e.json", "another/f"})
    folder.write(name, "12345");
  const FolderView view = list_folder(folder.path().string(), "");
  std::vector<std::string> names;
  for (const FolderEntry& entry : view.entries) names.push_back(entry.name + (entry.is_folder ? "/" : ""));
  CHECK(names == std::vector<std::string>{"another/", "sub/", "a.json.gz", "b.json", "c.json.xz", "d.json.zst"});
  CHECK(view.entries[2].bytes == 5);
  CHECK(view.error.empty());
}

TEST_CASE("a listing says where it is, without a slash at the end") {
  const test::TempFolder folder;
  folder.write("sub/e.json", "");
  CHECK(list_folder(folder.path().string() + "/sub/", "").path == folder.path().string() + "/sub");
  CHECK(list_folder("~/sub", folder.path().string()).path == folder.path().string() + "/sub");
  CHECK(list_folder("/", "").path == "/");
}

TEST_CASE("a folder that cannot be read is a sentence") {
  CHECK(list_folder("/nonexistent/folder", "").error.starts_with("This folder cannot be read: "));
}
