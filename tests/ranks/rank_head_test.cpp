#include "core/ranks/rank_head.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/load/archive.h"
#include "core/ranks/read_rank.h"
#include "tests/support/gzip_text.h"
#include "tests/support/pack_archive.h"
#include "tests/support/real_traces.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;

namespace {

std::string trace_of(const std::string& info) {
  return "{\"schemaVersion\": 1, " + info + "\"traceEvents\": [{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 1}]}";
}

}  // namespace

TEST_CASE("the rank is in distributedInfo, as a number or as text, and not behind the events") {
  test::TempFolder folder;
  const auto head = [&](const std::string& text) { return read_rank_head(folder.write("t.json", text)); };
  CHECK(head(trace_of(R"("distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, )")).rank == 3);
  CHECK(head(trace_of(R"("distributedInfo": {"rank": "3", "world_size": "8"}, )")).world_size == 8);
  CHECK(head(trace_of("")).rank == -1);
  CHECK(head(R"({"traceEvents": [], "distributedInfo": {"rank": 1}})").rank == -1);
  CHECK(head("").rank == -1);
  CHECK(head(trace_of(R"("distributedInfo": {"rank": 12345678901234567890, "world_size": 2}, )")).rank == -1);
  CHECK(head(trace_of(R"("distributedInfo": {"rank": 12345678901234567, "world_size": 2}, )")).rank == -1);
  CHECK(read_rank_head("/nowhere.json").rank == -1);
  CHECK(read_rank_head(test::recording("tp_rank1").string()).rank == 1);
}

TEST_CASE("a number in a file's name is a rank where a rank can be so large, and never a part of it") {
  CHECK(rank_from_name("/a/rank7.json") == 7);
  CHECK(rank_from_name("rank_12.pt.trace.json") == 12);
  CHECK(rank_from_name("rank1234567890123.json") == -1);
  CHECK(rank_from_name("rank3_of_rank12345678901234567890.json") == 3);
}

TEST_CASE("two files are a run where they say that they are different ranks of one world; more always are") {
  test::TempFolder folder;
  const auto file = [&](const std::string& name, int rank, int world) {
    return folder.write(name, trace_of("\"distributedInfo\": {\"rank\": " + std::to_string(rank) +
                                       ", \"world_size\": " + std::to_string(world) + "}, "));
  };
  const std::string zero = file("a.json", 0, 2), one = file("b.json", 1, 2), again = file("c.json", 0, 2),
                    other = file("d.json", 1, 4), alone = file("e.json", 0, 1), plain = folder.write("f.json", trace_of(""));
  CHECK(are_ranks_of_a_run({zero, one}));
  CHECK(!are_ranks_of_a_run({zero, again}));
  CHECK(!are_ranks_of_a_run({zero, other}));
  CHECK(!are_ranks_of_a_run({zero, alone}));
  CHECK(!are_ranks_of_a_run({plain, one}));
  CHECK(!are_ranks_of_a_run({zero}));
  CHECK(are_ranks_of_a_run({plain, plain, plain}));
}

TEST_CASE("what would be read whole to become a text is not read for its rank") {
  const test::TempFolder folder;
  const std::string rocprof = "{\"rocprofiler-sdk-tool\": [", sqlite = std::string("SQLite format 3") + '\0';
  const std::string plain = R"({"distributedInfo": {"rank": 3, "world_size": 8}, "traceEvents": []})";
  std::vector<std::string> others = {rocprof, sqlite, test::gzip_text(rocprof)}, traces = {plain, test::gzip_text(plain)};
#if __has_include(<archive.h>)
  others.push_back(test::zip_of({{"t.json", sqlite}}));
  others.push_back(test::gzip_text(test::tar_of({{"t.json", plain}})));  // it is inflated whole to be listed
  traces.push_back(test::zip_of({{"t.json", plain}}));
  traces.push_back(test::tar_of({{"t.json", plain}}));
#endif
  for (const std::string& bytes : others) {
    const std::string path = folder.write("x.json", bytes);
    CHECK_FALSE(open_beginning(path).ok());
    CHECK(read_rank_head(path).rank == -1);
  }
  for (const std::string& bytes : traces) CHECK(read_rank_head(folder.write("x.json", bytes)).rank == 3);
}
