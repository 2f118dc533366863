#include "app/attach/trend.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "core/base/table/output.h"
#include "tests/support/source_folder.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::attach;

namespace {

// Two steps of this length, in which the GPU works for 10 us.
std::string trace_of(int step_us) {
  const auto event = [](const std::string& category, const std::string& name, int ts, int dur, const std::string& args) {
    return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name + R"(", "pid": 1, "tid": 1, "ts": )" +
           std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) + R"(, "args": {)" + args + "}}";
  };
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (int step = 0; step < 2; ++step) {
    const int begin = step * step_us;
    const std::string link = R"("correlation": )" + std::to_string(step + 1);
    text += event("user_annotation", "ProfilerStep#" + std::to_string(step), begin, step_us, "") + ",\n";
    text += event("cuda_runtime", "cudaLaunchKernel", begin + 1, 2, link) + ",\n";
    text += event("kernel", "work", begin + 5, 10, R"("device": 0, "stream": 7, )" + link) + (step == 0 ? ",\n" : "]}");
  }
  return text;
}

}  // namespace

TEST_CASE("trend: a row a recording in order of time, against the first, and what cannot be read is named") {
  const test::TempFolder folder;
  for (const char* round : {"20260102-000000", "20260101-000000", "20260103-000000", "empty"})
    std::filesystem::create_directory(folder.path() / round);
  folder.write("20260101-000000/pid_7.json", trace_of(100));
  folder.write("20260102-000000/pid_7.json", trace_of(250));
  folder.write("20260103-000000/pid_7.json", "no trace");
  const Trend trend = trend_of(folder.path().string());
  REQUIRE(trend.rows.size() == 2);
  CHECK(trend.rows[0].name == "20260101-000000");
  CHECK(trend.rows[0].step == Ns{100'000});
  CHECK(trend.rows[1].step == Ns{250'000});
  CHECK(trend.rows[0].slower == doctest::Approx(1));
  CHECK(trend.rows[1].slower == doctest::Approx(2.5));
  REQUIRE(trend.rows[0].busy);
  REQUIRE(trend.rows[1].busy);
  CHECK(*trend.rows[0].busy > *trend.rows[1].busy);
  CHECK_FALSE(trend.rows[0].late_rank);
  REQUIRE(trend.problems.size() == 1);
  CHECK(trend.problems[0].find("20260103-000000/pid_7.json cannot be read.") != std::string::npos);
  const auto table = trend_rows(trend);
  CHECK(csv_of(table, first_rows(table, 1)).find("recording,traces,step_ns") == 0);
}

TEST_CASE("trend: of several ranks, the one that the others waited for") {
  const test::TempFolder folder;
  const auto ranks = test::source_folder() / "tests/recordings/ranks";
  std::filesystem::create_directory(folder.path() / "run");
  for (const char* name : {"ddp_delayed_rank0.json.gz", "ddp_delayed_rank1.json.gz"})
    std::filesystem::copy_file(ranks / name, folder.path() / "run" / name);
  const Trend trend = trend_of(folder.path().string());
  REQUIRE(trend.rows.size() == 1);
  CHECK(trend.rows[0].traces == 2);
  CHECK(trend.rows[0].late_rank == std::int64_t{1});
  CHECK(trend.rows[0].waited > Ns{0});
  CHECK(trend_of((folder.path() / "missing").string()).rows.empty());
}
