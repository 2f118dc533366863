#include "app/serve/listing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/pack_archive.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using gapscope::test::TempFolder;
namespace fs = std::filesystem;

namespace {

void put(const fs::path& path, const std::string& text = "{\"traceEvents\": []}") {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string rank_text(int rank, int world) {
  return "{\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " + std::to_string(rank) +
         ", \"world_size\": " + std::to_string(world) + "}, \"traceEvents\": []}";
}

std::vector<std::string> paths_of(const Listing& listing) {
  std::vector<std::string> paths;
  for (const ListedItem& item : listing.items) paths.push_back((item.is_run ? "ranks " : "") + item.path);
  std::sort(paths.begin(), paths.end());
  return paths;
}

Listing list(const fs::path& folder, std::size_t most = kMostListed) {
  RankHeads heads;
  return list_recordings(*AllowedFolders::make({folder.string()}, Allowed::recordings), heads, most);
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("recordings are listed by their suffix, those that lie below and are not hidden") {
  const TempFolder folder, elsewhere;
  for (const char* name :
       {"a.json", "b/c/d.json.gz", "e.json.xz", "f.json.zst", "notes.txt", "json", ".hidden.json", ".git/g.json", "b/x.gz"})
    put(folder.path() / name);
  put(elsewhere.path() / "secret.json");
  fs::create_symlink(elsewhere.path() / "secret.json", folder.path() / "out.json");
  fs::create_directory_symlink(elsewhere.path(), folder.path() / "away");
  fs::create_symlink("a.json", folder.path() / "in.json");
  fs::create_symlink("a.json", folder.path() / "in.txt");
  fs::create_directory(folder.path() / "folder.json");
  CHECK(paths_of(list(folder.path())) == Paths{"a.json", "b/c/d.json.gz", "e.json.xz", "f.json.zst", "in.json"});
}

TEST_CASE("only recordings may be opened, by names below the folder") {
  const TempFolder folder, elsewhere;
  put(folder.path() / "a.json");
  put(folder.path() / "runs/b.json");
  put(folder.path() / "secret.txt");
  put(folder.path() / ".hidden/c.json");
  fs::create_symlink("secret.txt", folder.path() / "d.json");
  fs::create_symlink("a.json", folder.path() / "e.txt");
  fs::create_symlink(elsewhere.path(), folder.path() / "out");
  put(elsewhere.path() / "f.json");
  const AllowedFolders only = *AllowedFolders::make({folder.path().string()}, Allowed::recordings);
  const std::string top = only.first().string();
  for (const std::string& path : {std::string("a.json"), std::string("runs/b.json"), top + "/a.json", std::string("d.json")})
    CHECK_MESSAGE(only.file(path).ok(), path);
  for (const std::string& path :
       {std::string(), std::string("."), std::string("secret.txt"), std::string("e.txt"), std::string(".hidden/c.json"),
        std::string("runs/../a.json"), std::string("../a.json"), std::string("out/f.json"), std::string("-"),
        elsewhere.path().string() + "/f.json", top + "/.hidden/c.json", top + "/runs/../secret.txt", std::string("runs"),
        std::string("a.json/"), std::string("/dev/stdin")})
    CHECK_MESSAGE(!only.file(path).ok(), path);
  CHECK(only.files("runs").ok());
  CHECK(only.files("").ok());
  CHECK_FALSE(only.files(".hidden").ok());
  CHECK_FALSE(only.files("out").ok());
  CHECK_FALSE(only.files("..").ok());
}

TEST_CASE("ranks of one world in one folder are a run") {
  const TempFolder folder;
  for (int rank = 0; rank < 3; ++rank) put(folder.path() / "run" / ("r" + std::to_string(rank) + ".json"), rank_text(rank, 4));
  put(folder.path() / "run/other.json");
  put(folder.path() / "alone/r0.json", rank_text(0, 2));
  put(folder.path() / "alone/again.json", rank_text(0, 2));
  put(folder.path() / "worlds/r0.json", rank_text(0, 2));
  put(folder.path() / "worlds/r1.json", rank_text(1, 3));
  const Listing listing = list(folder.path());
  CHECK(paths_of(listing) ==
        Paths{"alone/again.json", "alone/r0.json", "ranks run", "run/other.json", "worlds/r0.json", "worlds/r1.json"});
  const auto run = std::find_if(listing.items.begin(), listing.items.end(), [](const ListedItem& item) { return item.is_run; });
  CHECK(run->ranks == Paths{"run/r0.json", "run/r1.json", "run/r2.json"});
  CHECK(run->bytes == 3 * rank_text(0, 4).size());
  const Listing itself = list(folder.path() / "run");
  CHECK(paths_of(itself) == Paths{"other.json", "ranks "});
}

TEST_CASE("what an archive holds is listed as the files of a folder are") {
  const TempFolder folder;
  const std::string trace = R"({"traceEvents": []})";
  put(folder.path() / "days.zip",
      test::zip_of({{"monday.json", trace}, {"tuesday.json", trace}, {"config.json", "{}"}, {"notes.txt", "x"}}));
  put(folder.path() / "run.tar", test::tar_of({{"a.json", rank_text(0, 2)}, {"b.json", rank_text(1, 2)}}));
  const Listing listing = list(folder.path());
  CHECK(paths_of(listing) == Paths{"days.zip/monday.json", "days.zip/tuesday.json", "ranks run.tar"});
  for (const ListedItem& item : listing.items)
    CHECK(item.bytes == fs::file_size(folder.path() / (item.is_run ? "run.tar" : "days.zip")));
}

TEST_CASE("the newest comes first, and of too many it says so") {
  const TempFolder folder;
  const auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 5; ++i) {
    const fs::path path = folder.path() / (std::to_string(i) + ".json");
    put(path);
    fs::last_write_time(path, now - std::chrono::hours(i == 3 ? 0 : 10 - i));
  }
  const Listing listing = list(folder.path());
  CHECK(listing.items.front().path == "3.json");
  CHECK(listing.items.back().path == "0.json");
  CHECK_FALSE(listing.is_cut);
  CHECK(list(folder.path(), 5).items.size() == 5);
  CHECK_FALSE(list(folder.path(), 5).is_cut);
  CHECK(list(folder.path(), 4).items.size() == 4);
  CHECK(list(folder.path(), 4).is_cut);
}

TEST_CASE("a head is read again when its file has changed") {
  const TempFolder folder;
  const fs::path path = folder.path() / "a.json";
  put(path, rank_text(1, 2));
  RankHeads heads;
  const auto before = *stamp_of(path.string());
  CHECK(heads.of(path.string(), before).rank == 1);
  put(path, rank_text(17, 32));
  CHECK(heads.of(path.string(), before).rank == 1);
  CHECK(heads.of(path.string(), *stamp_of(path.string())).rank == 17);
}
