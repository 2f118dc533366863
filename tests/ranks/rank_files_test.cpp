#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/ranks/rank_head.h"
#include "core/ranks/read_rank.h"
#include "core/ranks/run_report.h"
#include "tests/support/load_text.h"
#include "tests/support/numbered_slices.h"
#include "tests/support/pack_archive.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::vector<std::string> below(const TempFolder& folder, const RankFiles& found) {
  std::vector<std::string> out;
  for (const std::string& file : found.files) out.push_back(file.substr(folder.path().string().size() + 1));
  return out;
}
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a folder's own traces are the run; those of folders in it only where each is a rank's") {
  const TempFolder folder;
  const std::string top = folder.path().string();
  for (const char* name :
       {"own/a.json", "own/deeper/b.json", "ranks/rank1/t.json", "ranks/rank0/t.json", "steps/iteration_10/rank0.json",
        "steps/iteration_10/rank1.json", "steps/iteration_20/rank0.json", "one/inner/a.json", "none/notes.txt"})
    folder.write(name, numbered_slices(2));
  CHECK(below(folder, find_rank_files({top + "/own"})) == Names{"own/a.json"});
  CHECK(below(folder, find_rank_files({top + "/ranks"})) == Names{"ranks/rank0/t.json", "ranks/rank1/t.json"});
  const RankFiles steps = find_rank_files({top + "/steps"});
  CHECK(steps.files.empty());
  CHECK(steps.problems ==
        Names{top +
              "/steps holds no trace itself, but its folders do: iteration_10 (2) and iteration_20 (1). Open one: "
              "gapscope ranks " +
              top + "/steps/iteration_10."});
  CHECK(below(folder, find_rank_files({top + "/one"})) == Names{"one/inner/a.json"});
  CHECK(find_rank_files({top + "/none"}).problems.front().find("holds no trace: no file there ends in") != std::string::npos);
  CHECK(rank_from_name("/runs/rank3/trace.json") == 3);
}

TEST_CASE("JSON that is plainly no trace is left out of a folder, with the reason, and hides no folder below it") {
  const TempFolder folder;
  const std::string top = folder.path().string(), trace = numbered_slices(2);
  folder.write("one/trace.json", trace);
  folder.write("one/config.json", R"({"model": "llama", "layers": 4})");
  folder.write("one/empty.json", " {} ");
  folder.write("one/list.json", "[1, 2, 3]");
  folder.write("one/nothing.json", "[]");
  folder.write("one/records.json", R"([{"name": "a", "time": 3}])");
  folder.write("one/name_first.json", R"({"name": "package", "version": "1", "scripts": {}})");
  const RankFiles one = find_rank_files({top + "/one"});
  CHECK(below(folder, one) == Names{"one/trace.json"});
  CHECK(one.problems.empty());
  CHECK(one.ignored == Names{"config.json (with the keys model and layers)", "empty.json (an empty object)",
                             "list.json (a list of other things than events)",
                             "name_first.json (with the keys name, version and scripts)", "nothing.json (an empty list)",
                             "records.json (a list of other things than events)"});
  CHECK(one.ignored_words().find("JSON that is no trace is left out: config.json (with the keys model and layers), ") == 0);
  // What may be a trace is left to the loader, which says what is wrong.
  folder.write("may/lines.json", "{\"name\": \"a\", \"ph\": \"X\", \"ts\": 1, \"dur\": 1}\n");
  folder.write("may/none.json", R"({"traceEvents": []})");
  folder.write("may/text.json", "hello");
  folder.write("may/cut.json", R"({"schemaVersion": 1, "deviceProperties": [{"id")");
  CHECK(find_rank_files({top + "/may"}).files.size() == 4);
  folder.write("only/config.json", R"({"model": "llama"})");
  CHECK(find_rank_files({top + "/only"}).problems ==
        Names{top + "/only holds no trace: its JSON is config.json (with the key model)."});
}

TEST_CASE("Ascend's folders are a rank each, by what its profiler wrote next to their traces") {
  const TempFolder folder;
  for (const char* rank : {"1", "0"}) {
    const std::string own = std::string("run/host_") + rank + "77_20260101_ascend_pt/";
    folder.write(own + "profiler_info_" + rank + ".json", R"({"config": {}})");
    folder.write(own + "profiler_metadata.json", R"({"distributed_backend": "hccl"})");
    folder.write(own + "ASCEND_PROFILER_OUTPUT/communication.json", R"({"step": {"p2p": {}}})");
    folder.write(own + "ASCEND_PROFILER_OUTPUT/operator_memory.csv", "Name,Size\n");
    folder.write(own + "ASCEND_PROFILER_OUTPUT/trace_view.json", "[" + slice("a", "1", "1") + "]");
  }
  const RankFiles run = find_rank_files({(folder.path() / "run").string()});
  CHECK(run.problems.empty());
  REQUIRE(run.files.size() == 2);
  CHECK(rank_of_ascend(run.files[0]) == 0);
  CHECK(rank_of_ascend(run.files[1]) == 1);
  CHECK(below(folder, find_rank_files({(folder.path() / "run/host_077_20260101_ascend_pt").string()})) ==
        Names{"run/host_077_20260101_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"});
}

#if __has_include(<archive.h>)
TEST_CASE("an archive of very many traces is to be unpacked first") {
  const TempFolder folder;
  std::vector<std::pair<std::string, std::string>> traces;
  for (int i = 0; i < 2100; ++i) traces.emplace_back("rank" + std::to_string(i) + ".json", "");
  const RankFiles found = find_rank_files({folder.write("run.zip", zip_of(traces))});
  CHECK(found.files.empty());
  REQUIRE(found.problems.size() == 1);
  CHECK(found.problems[0].find("Unpack it") != std::string::npos);
}

TEST_CASE("an archive of several traces is a folder of them, its folders too") {
  const TempFolder folder;
  const std::string text = numbered_slices(2);
  const std::string run = folder.write("run.zip", zip_of({{"r/rank0.json", text}, {"r/rank1.json", text}}));
  const std::string steps =
      folder.write("steps.zip", zip_of({{"it_1/rank0.json", text}, {"it_1/rank1.json", text}, {"it_2/rank0.json", text}}));
  const std::string one = folder.write("one.zip", zip_of({{"r/rank0.json", text}}));
  CHECK(below(folder, find_rank_files({run})) == Names{"run.zip/r/rank0.json", "run.zip/r/rank1.json"});
  CHECK(find_rank_files({steps}).problems.front().find("its folders do: it_1 (2) and it_2 (1)") != std::string::npos);
  CHECK(below(folder, find_rank_files({steps + "/it_1"})) == Names{"steps.zip/it_1/rank0.json", "steps.zip/it_1/rank1.json"});
  CHECK(below(folder, find_rank_files({one})) == Names{"one.zip"});
  CHECK(holds_several_traces(run));
  CHECK(holds_several_traces(folder.path().string()));
  CHECK(!holds_several_traces(one));
  CHECK(!holds_several_traces("-"));
  CHECK(!holds_several_traces(run + "/r/rank0.json"));
  std::filesystem::remove(steps);
  std::filesystem::remove(one);
  CHECK(below(folder, find_rank_files({folder.path().string()})) == Names{"run.zip"});
}
#endif
