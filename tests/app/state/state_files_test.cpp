#include "app/state/state_files.h"

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include <sys/file.h>
#include <nlohmann/json.hpp>

#include "app/state/kept_files.h"
#include "app/state/settings.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;
using namespace std::chrono_literals;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

StateWriter::Write writing(const std::filesystem::path& file, const std::string& text) {
  return [=] { return write_state(file, text, "the text"); };
}

template <class Test>
bool comes_true(Test test) {
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (std::chrono::steady_clock::now() < deadline) {
    if (test()) return true;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}

}  // namespace

TEST_CASE("a change is written once it has rested, the newest of each file at the end at once") {
  const TempFolder folder;
  const auto a = folder.path() / "deep/a.json", b = folder.path() / "b.json";
  {
    StateWriter writer(1h);
    writer.put(a, writing(a, "old"));
    writer.put(b, writing(b, "b"));
    writer.put(a, writing(a, "new"));
  }
  CHECK(text_of(a) == "new");
  CHECK(text_of(b) == "b");
  StateWriter writer(1ms);
  writer.put(a, writing(a, "rested"));
  CHECK(comes_true([&] { return text_of(a) == "rested"; }));
}

TEST_CASE("what waits for one file is not lost to a change of another that comes while it is flushed") {
  const TempFolder folder;
  StateWriter writer(1h);
  for (int i = 0; i < 50; ++i) {
    const auto file = folder.path() / std::to_string(i);
    writer.put(file, writing(file, "x"));
    writer.flush();  // another trace comes
  }
  for (int i = 0; i < 50; ++i) CHECK(comes_true([&] { return text_of(folder.path() / std::to_string(i)) == "x"; }));
  writer.put(folder.path() / "last", writing(folder.path() / "last", "x"));
  CHECK(!std::filesystem::exists(folder.path() / "last"));  // what comes after a flush rests again
}

TEST_CASE("what could not be written is said once, and tried again with the next change and at the end") {
  const TempFolder folder;
  const std::string in_the_way = folder.write("folder", "");
  const auto file = std::filesystem::path(in_the_way) / "a.json", other = folder.path() / "b.json";
  std::string news;
  {
    StateWriter writer(1ms);
    writer.put(file, writing(file, "kept"));
    CHECK(comes_true([&] { return !(news = writer.take_news()).empty(); }));
    CHECK(news == file.string() + ": the text cannot be saved; check the folder's permissions and free space.");
    CHECK(writer.take_news() == "");
    std::filesystem::remove(in_the_way);
    writer.put(other, writing(other, "b"));
    CHECK(comes_true([&] { return text_of(file) == "kept"; }));
    std::filesystem::remove_all(in_the_way);
    folder.write("folder", "");
    writer.put(file, writing(file, "later"));
    CHECK(comes_true([&] { return !writer.take_news().empty(); }));
    std::filesystem::remove(in_the_way);
  }
  CHECK(text_of(file) == "later");
}

TEST_CASE("a lock that is never let go is not waited for") {
  const TempFolder folder;
  const FolderLock lock(folder.path());
  const std::string path = (folder.path() / "settings.json").string();
  CHECK(SettingsFile(path).write({{"/a"}, {}, {}}).done);
  CHECK(read_settings(path)->recent == std::vector<std::string>{"/a"});
}

TEST_CASE("two programs that write the settings again and again lose no recent file of the other") {
  const TempFolder folder;
  const std::string path = (folder.path() / "settings.json").string();
  const auto open_files = [&](const std::string& name) {
    SettingsFile file(path);
    std::string said;
    Settings settings = file.read(said);
    for (int i = 0; i < 5; ++i) {
      settings.recent.insert(settings.recent.begin(), name + std::to_string(i));
      CHECK(file.write(settings).done);
    }
  };
  {
    const Thread one([&] { open_files("/one"); }, []() noexcept {}), two([&] { open_files("/two"); }, []() noexcept {});
  }
  const Settings settings = *read_settings(path);
  CHECK(settings.recent.size() == 10);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("damaged state files crash nothing, and their text is somewhere afterwards") {
  const TempFolder folder;
  KeptView kept;
  kept.visible = {4367497539681444, 4367497539999999};
  kept.lanes = {{"415", "1", false, true, false, true}};
  kept.notes = {{{5, 9}, "here\nand there", 3}};
  const std::string view = kept_json(kept, "/a.json");
  const std::string settings =
      R"({"recent": ["/a", "/b"], "muted": ["x"], "preferences": {"zoom": 1.5, "light": true, "titles_px": 300}})";
  std::uint64_t seed = 1;
  const auto random = [&](std::size_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(seed >> 33) % below;
  };
  int moved = 0;
  for (int i = 0; i < 500; ++i) {
    std::string text = i % 2 ? view : settings;
    for (std::size_t n = 1 + random(4); n > 0 && !text.empty(); --n) {
      const std::size_t at = random(text.size());
      switch (random(5)) {
        case 0: text[at] = static_cast<char>(random(256)); break;
        case 1: text.erase(at, 1 + random(10)); break;
        case 2: text.insert(at, text.substr(random(text.size()), random(20))); break;
        case 3: text.resize(at); break;
        default: text.replace(at, 1, std::array{"1e999", "-1", "[", "{\"", "null", "99999999999999999999"}[random(6)]);
      }
    }
    CAPTURE(text);
    const TempFolder place;
    const std::string path = place.write("file.json", text);
    std::string said;
    if (i % 2) {
      const auto read = read_kept(path);
      if (!read.ok()) said = read.error().message;
    } else {
      SettingsFile file(path);
      const Settings now = file.read(said);
      CHECK(file.write(now).done);
      const auto back = read_settings(path);
      REQUIRE(back.ok());
      CHECK(back->recent == now.recent);
      CHECK(back->preferences == now.preferences);
    }
    if (said.empty()) continue;
    ++moved;
    CHECK(text_of(path + ".broken-1") == text);
  }
  CHECK(moved > 200);
}
