#include "app/record/trace_pieces.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "app/record/recording.h"
#include "core/load/load_trace.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;

namespace {

std::string event(int i) {
  return (i == 0 ? std::string() : std::string("\n,")) + R"({"ph": "X", "name": "e", "pid": 1, "tid": 1, "ts": )" + std::to_string(i * 10) + R"(, "dur": 5})";
}

std::size_t slices_of(const std::string& path) {
  const auto trace = load_trace(path);
  return trace.ok() ? (*trace)->slice_count() : ~std::size_t{0};
}

void write_begun(const std::string& path, int events) {
  TracePieces file;
  REQUIRE(file.open(path).empty());
  REQUIRE(file.add("{\"traceEvents\": [\n").empty());
  for (int i = 0; i < events; ++i) REQUIRE(file.add(event(i)).empty());
}

}  // namespace

TEST_CASE("a trace written in pieces is one trace, packed or not, and has its name only when it is whole") {
  const test::TempFolder folder;
  for (const char* name : {"a.json.gz", "a.json"}) {
    const std::string path = (folder.path() / name).string();
    TracePieces file;
    REQUIRE(file.open(path).empty());
    file.add("{\"traceEvents\": [\n" + event(0));
    file.add(event(1) + event(2));
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK(file.finish(kTraceTail).empty());
    CHECK(slices_of(path) == 3);
    CHECK_FALSE(std::filesystem::exists(path + ".partial"));
  }
}

TEST_CASE("a file whose writer was killed is finished with every whole piece, wherever it was cut") {
  const test::TempFolder folder;
  for (const std::string name : {"a.json.gz", "a.json"}) {
    const std::string path = (folder.path() / name).string();
    write_begun(path, 6);
    const auto size = std::filesystem::file_size(path + ".partial");
    std::size_t last = 6;
    for (auto cut = size; cut > size / 3; cut -= 3) {
      write_begun(path + ".again.json" + (name.ends_with(".gz") ? ".gz" : ""), 6);
      const std::string again = path + ".again.json" + (name.ends_with(".gz") ? ".gz" : "");
      std::filesystem::resize_file(again + ".partial", cut);
      REQUIRE_MESSAGE(finish_partial(again, kTraceTail).empty(), cut);
      const auto trace = load_trace(again);
      REQUIRE(trace.ok());
      CHECK((*trace)->report.entries().empty());
      CHECK((*trace)->slice_count() <= last);
      CHECK((*trace)->slice_count() + 2 >= last);
      last = (*trace)->slice_count();
      std::filesystem::remove(again);
    }
    CHECK(last < 6);
  }
}

TEST_CASE("what is begun and discarded leaves nothing, and a second writer is refused") {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "a.json").string();
  TracePieces first, second;
  REQUIRE(first.open(path).empty());
  CHECK(second.open(path).starts_with(path + ": cannot be written"));
  first.discard();
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a file that cannot be written is a sentence") {
  TracePieces file;
  CHECK(file.open("/nonexistent/a.json").starts_with("/nonexistent/a.json: cannot be written"));
}

TEST_CASE("a further process of the program writes beside the first") {
  CHECK(path_of_process("/a/b.json.gz", 17) == "/a/b.17.json.gz");
  CHECK(path_of_process("b.json", 17) == "b.17.json");
  CHECK(path_of_process("b", 17) == "b.17");
}
