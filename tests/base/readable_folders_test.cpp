#include "core/base/readable_folders.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "core/base/file_stamp.h"
#include "tests/support/confined_reading.h"
#include "tests/support/swapped_folder.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using test::TempFolder;
namespace fs = std::filesystem;

namespace {

// What an open file holds, which is closed; "-" where there is none.
std::string text_of(int fd) {
  if (fd < 0) return "-";
  std::string text(100, '\0');
  const ssize_t got = ::read(fd, text.data(), text.size());
  ::close(fd);
  return text.substr(0, got > 0 ? static_cast<std::size_t>(got) : 0);
}

// A folder with files and links, and another one to which some lead.
struct Links {
  Links() {
    inside.write("sub/a.json", "inside");
    outside.write("a.json", "outside");
    fs::create_symlink("sub/a.json", inside.path() / "near.json");
    fs::create_symlink(inside.path() / "sub/a.json", inside.path() / "absolute.json");
    fs::create_symlink(outside.path() / "a.json", inside.path() / "far.json");
    fs::create_directory_symlink(outside.path(), inside.path() / "away");
    fs::create_directory_symlink("sub", inside.path() / "there");
  }
  TempFolder inside, outside;
};

}  // namespace

TEST_CASE("what is below a folder is opened, also by links within it, and nothing else") {
  const Links links;
  const ReadableFolders folders = *ReadableFolders::make({links.inside.path().string()});
  const auto read = [&](const std::string& name) {
    return text_of(folders.open((links.inside.path() / name).string(), O_RDONLY));
  };
  for (const char* name : {"sub/a.json", "near.json", "absolute.json", "there/a.json", "sub/../sub/a.json"})
    CHECK_MESSAGE(read(name) == "inside", name);
  const std::string up = "../" + links.outside.path().filename().string() + "/a.json";
  for (const std::string& name : {std::string("far.json"), std::string("away/a.json"), up, std::string("gone.json"),
                                  links.outside.path().string() + "/a.json", std::string("/etc/passwd")})
    CHECK_MESSAGE(read(name) == "-", name);
  CHECK(text_of(ReadableFolders().open((links.inside.path() / "sub/a.json").string(), O_RDONLY)) == "-");
  CHECK_FALSE(ReadableFolders::make({(links.inside.path() / "sub/a.json").string()}).ok());
  // Another folder of a name that begins the same is another folder.
  const ReadableFolders sub = *ReadableFolders::make({(links.inside.path() / "sub").string()});
  links.inside.write("submarine/a.json", "outside");
  CHECK(text_of(sub.open((links.inside.path() / "submarine/a.json").string(), O_RDONLY)) == "-");
}

TEST_CASE("a folder that is removed and made again is read anew, and a link in its place is not") {
  const TempFolder top, elsewhere;
  const fs::path runs = top.path() / "runs";
  top.write("runs/a.json", "old");
  elsewhere.write("a.json", "outside");
  const ReadableFolders folders = *ReadableFolders::make({runs.string()});
  const auto read = [&] { return text_of(folders.open((runs / "a.json").string(), O_RDONLY)); };
  CHECK(read() == "old");
  fs::rename(runs, top.path() / "moved");
  CHECK(read() == "-");
  fs::create_directory_symlink(elsewhere.path(), runs);
  CHECK(read() == "-");
  fs::remove(runs);
  top.write("runs/a.json", "new");
  CHECK(read() == "new");
}

TEST_CASE("no folder that is swapped for a link while a file is opened leads out, however the system opens") {
  const Links links;
  const ReadableFolders folders = *ReadableFolders::make({links.inside.path().string()});
  const fs::path sub = links.inside.path() / "sub";
  fs::remove(links.inside.path() / "there");
  const std::string file = (sub / "a.json").string(), real = fs::canonical(file).string();
  const std::pair<const char*, std::function<int()>> ways[] = {
      {"below the folder", [&] { return folders.open(file, O_RDONLY); }},
      {"as it is called", [&] { return open_as_named(AT_FDCWD, real, O_RDONLY); }}};
  for (const auto& way : ways) {
    CAPTURE(way.first);
    const test::SwappedFolder swapped(sub, links.inside.path() / "away");
    int inside = 0, outside = 0, tries = 0;
    for (; tries < test::swaps_wanted() || (inside == 0 && tries < 100'000); ++tries) {
      const long before = swapped.count();
      const std::string text = text_of(way.second());
      inside += text == "inside";
      outside += text != "inside" && text != "-";
      while (swapped.count() == before) std::this_thread::yield();
    }
    CHECK(outside == 0);
    CHECK(inside > 0);
  }
}

TEST_CASE("a process that is confined reads, looks at and lists nothing elsewhere") {
  const Links links;
  const std::string inside = links.inside.path().string(), outside = links.outside.path().string();
  std::error_code trouble;
  CHECK(text_of(open_to_read(inside + "/far.json")) == "outside");  // by itself it reads anywhere
  const test::ConfinedReading confined(*ReadableFolders::make({inside}));
  CHECK(text_of(open_to_read(inside + "/near.json")) == "inside");
  CHECK(text_of(open_to_read(inside + "/far.json")) == "-");
  CHECK(stamp_of(inside + "/near.json"));
  CHECK_FALSE(stamp_of(inside + "/far.json"));
  CHECK_FALSE(stamp_of(outside + "/a.json"));
  CHECK(names_in(inside + "/there", trouble) == std::vector<std::string>{"a.json"});
  CHECK_FALSE(trouble);
  CHECK(names_in(inside + "/away", trouble).empty());
  CHECK(trouble);
}

TEST_CASE("folders that were opened by another process are what may be read, not what is called so now") {
  const TempFolder top;
  top.write("root/a.json", "inside");
  top.write("other/a.json", "outside");
  const std::string root = (top.path() / "root").string();
  const int fd = ::open(root.c_str(), O_RDONLY | O_DIRECTORY);
  const ReadableFolders folders = *ReadableFolders::of_descriptors({fd});
  CHECK(text_of(folders.open(root + "/a.json", O_RDONLY)) == "inside");
  fs::rename(top.path() / "root", top.path() / "old");
  fs::rename(top.path() / "other", top.path() / "root");
  CHECK(text_of(folders.open(root + "/a.json", O_RDONLY)) != "outside");
  const int file = ::open((top.path() / "old/a.json").c_str(), O_RDONLY);
  CHECK_FALSE(ReadableFolders::of_descriptors({file}).ok());
  ::close(file);
  CHECK_FALSE(ReadableFolders::of_descriptors({-1}).ok());
}
