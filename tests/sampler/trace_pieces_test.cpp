#include "app/record/trace_pieces.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "app/record/recording.h"
#include "core/load/load_trace.h"
#include "tests/support/small_disk.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;

namespace {

std::string event(int i) {
  return (i == 0 ? std::string() : std::string("\n,")) + R"({"ph": "X", "name": "e", "pid": 1, "tid": 1, "ts": )" +
         std::to_string(i * 10) + R"(, "dur": 5})";
}

std::size_t slices_of(const std::string& path) {
  const auto trace = load_trace(path);
  return trace.ok() ? (*trace)->slice_count() : ~std::size_t{0};
}

const PieceOwner kOwner{"run1", "here", 17, 1'000, -1};

// Leaves a file as a killed writer does; its name.
std::string write_begun(const std::string& path, int events) {
  TracePieces file;
  REQUIRE(file.open(path, kOwner).empty());
  REQUIRE(file.add("{\"traceEvents\": [\n").empty());
  for (int i = 0; i < events; ++i) REQUIRE(file.add(event(i)).empty());
  return file.piece();
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("a trace written in pieces is one trace, packed or not, and has its name only when it is whole") {
  const test::TempFolder folder;
  for (const char* name : {"a.json.gz", "a.json"}) {
    const std::string path = (folder.path() / name).string();
    TracePieces file;
    REQUIRE(file.open(path, kOwner).empty());
    file.add("{\"traceEvents\": [\n" + event(0));
    file.add(event(1) + event(2));
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK(file.finish(kTraceTail).empty());
    CHECK(file.path() == path);
    CHECK(slices_of(path) == 3);
    CHECK_FALSE(std::filesystem::exists(file.piece()));
  }
}

TEST_CASE("a file whose writer was killed is finished with every whole piece, wherever it was cut") {
  const test::TempFolder folder;
  for (const std::string name : {"a.json.gz", "a.json"}) {
    const std::string path = (folder.path() / name).string();
    const std::string whole = write_begun(path, 6);
    const auto size = std::filesystem::file_size(whole);
    std::filesystem::remove(whole);
    std::size_t last = 6;
    for (auto cut = size; cut > size / 3; cut -= 3) {
      const std::string piece = write_begun(path, 6);
      std::filesystem::resize_file(piece, cut);
      const Rescued rescued = rescue(piece, path, kTraceTail);
      REQUIRE_MESSAGE(rescued.what == Rescued::What::finished, cut, rescued.sentence);
      REQUIRE(rescued.path == path);
      const auto trace = load_trace(path);
      REQUIRE(trace.ok());
      CHECK((*trace)->report.entries().empty());
      CHECK((*trace)->slice_count() <= last);
      CHECK((*trace)->slice_count() + 2 >= last);
      last = (*trace)->slice_count();
      std::filesystem::remove(path);
    }
    CHECK(last < 6);
  }
}

TEST_CASE("a killed writer's file is opened as it is, too") {
  const test::TempFolder folder;
  for (const char* name : {"a.json.gz", "a.json"}) {
    const std::string piece = write_begun((folder.path() / name).string(), 6);
    CHECK(slices_of(piece) == 6);
    std::filesystem::resize_file(piece, std::filesystem::file_size(piece) - 3);
    CHECK(slices_of(piece) >= 5);
  }
}

TEST_CASE("a file that was whole but for its name is not given a second end") {
  const test::TempFolder folder;
  for (const char* name : {"a.json.gz", "a.json"}) {
    const std::string path = (folder.path() / name).string();
    TracePieces file;
    REQUIRE(file.open(path, kOwner).empty());
    REQUIRE(file.add("{\"traceEvents\": [\n" + event(0)).empty());
    REQUIRE(file.finish(kTraceTail).empty());
    std::filesystem::rename(path, file.piece());
    REQUIRE(rescue(file.piece(), path, kTraceTail).what == Rescued::What::finished);
    const auto trace = load_trace(path);
    REQUIRE(trace.ok());
    CHECK((*trace)->report.entries().empty());
    CHECK((*trace)->slice_count() == 1);
  }
}

TEST_CASE("of a file in which nothing is whole nothing is left") {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "a.json.gz").string(), piece = write_begun(path, 3);
  std::filesystem::resize_file(piece, 7);
  const Rescued rescued = rescue(piece, path, kTraceTail);
  CHECK(rescued.what == Rescued::What::empty);
  CHECK(rescued.sentence == piece + ": it has no complete event, so it is not a trace.");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the file of a writer that lives is not touched, and one that is gone holds nothing") {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "a.json").string();
  TracePieces file;
  REQUIRE(file.open(path, kOwner).empty());
  REQUIRE(file.add("{\"traceEvents\": [\n" + event(0)).empty());
  CHECK(may_be_written(file.piece()));
  CHECK(rescue(file.piece(), path, kTraceTail).what == Rescued::What::written);
  REQUIRE(file.add(event(1)).empty());
  file.abandon();
  CHECK_FALSE(may_be_written(file.piece()));
  CHECK(rescue(file.piece(), path, kTraceTail).what == Rescued::What::finished);
  CHECK(slices_of(path) == 2);
}

TEST_CASE("what is begun and discarded leaves nothing, and a second writer of the same name has a file of its own") {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "a.json").string();
  TracePieces first, second;
  REQUIRE(first.open(path, kOwner).empty());
  REQUIRE(second.open(path, kOwner).empty());
  CHECK(first.piece() != second.piece());
  first.discard();
  second.discard();
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("ten writers that ask for one name get ten, and what was there before stays as it was") {
  const test::TempFolder folder;
  const std::string path = folder.write("a.json.gz", "something of the user's");
  std::vector<TracePieces> files(10);
  for (std::size_t i = 0; i < files.size(); ++i) {
    REQUIRE(files[i].open(path, kOwner).empty());
    REQUIRE(files[i].add("{\"traceEvents\": [\n" + event(0)).empty());
    for (std::size_t more = 0; more < i; ++more) REQUIRE(files[i].add(event(1)).empty());
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    REQUIRE(files[i].finish(kTraceTail).empty());
    CHECK(files[i].path() == (folder.path() / ("a-" + std::to_string(i + 2) + ".json.gz")).string());
  }
  for (std::size_t i = 0; i < files.size(); ++i) CHECK(slices_of(files[i].path()) == i + 1);
  CHECK(std::filesystem::file_size(path) == std::string_view("something of the user's").size());
  CHECK(files_in(folder.path()) == 11);
}

TEST_CASE("a file that cannot be written is a sentence") {
  TracePieces file;
  CHECK(file.open("/nonexistent/a.json", kOwner).starts_with("/nonexistent/a.json: cannot be written"));
}

TEST_CASE("on a full disk the file ends with its last whole piece, and nothing is written after a gap") {
  for (const char* name : {"a.json.gz", "a.json"}) {
    std::string trouble;
    const bool ran = test::on_small_disk(1, trouble, [&](const std::string& disk) -> std::string {
      const std::string path = disk + "/" + name;
      TracePieces file;
      if (std::string wrong = file.open(path, kOwner); !wrong.empty()) return wrong;
      if (!file.add("{\"traceEvents\": [\n" + event(0)).empty()) return "no room for the first piece";
      std::string wrong;
      std::size_t whole = 1;
      for (; wrong.empty() && whole < 100'000; ++whole) {
        std::string text;
        for (int i = 0; i < 700; ++i) text += event(static_cast<int>(whole) * 977 + i * i * 31);
        wrong = file.add(text);
      }
      if (wrong.find("could not be written to its end (No space left on device)") == std::string::npos)
        return "the disk was never full: " + wrong;
      if (!file.add(event(5)).empty()) return "a second complaint";
      if (const std::string end = file.finish(kTraceTail); !end.empty() && end.find("No space left") == std::string::npos)
        return end;
      const auto trace = load_trace(path);
      if (!trace.ok()) return trace.error().message;
      if (!(*trace)->report.entries().empty()) return "the file is not whole";
      const std::size_t slices = (*trace)->slice_count();
      return slices > 1 && slices % 700 == 1 ? std::string() : std::to_string(slices) + " slices";
    });
    if (ran) CHECK_MESSAGE(trouble.empty(), name, ": ", trouble);
  }
}
