#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/ranks/read_rank.h"
#include "core/ranks/run_report.h"
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
  CHECK(
      find_rank_files({top + "/one"}).problems ==
      Names{top + "/one holds no trace itself, but its folder inner (1) does. Open it: gapscope ranks " + top + "/one/inner."});
  CHECK(find_rank_files({top + "/none"}).problems.front().find("holds no trace: no file there ends in") != std::string::npos);
  CHECK(rank_from_name("/runs/rank3/trace.json") == 3);
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
