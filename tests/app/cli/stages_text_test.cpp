#include <algorithm>

#include <doctest/doctest.h>

#include "app/cli/info.h"
#include "core/load/load_timeline.h"
#include "tests/support/gzip_text.h"
#include "tests/support/numbered_slices.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

using Stage = LoadTimeline::Stage;

bool has(const LoadTimeline& timeline, Stage stage) {
  return std::ranges::any_of(timeline.stretches(), [&](const auto& s) { return s.stage == stage; });
}

}  // namespace

TEST_CASE("a timeline holds what each thread did, without overlaps on a thread but for building") {
  const TempFolder folder;
  const std::string text = numbered_slices(20'000);
  for (const bool packed : {false, true}) {
    LoadTimeline timeline;
    const auto loaded = load_trace_on(timeline, folder.write("t.json", packed ? gzip_text(text, 1) : text));
    REQUIRE(loaded.ok());
    CHECK(has(timeline, Stage::reading) == !packed);
    CHECK(has(timeline, Stage::inflating) == packed);
    CHECK(has(timeline, Stage::parsing));
    CHECK(has(timeline, Stage::building));
    std::vector<LoadTimeline::Stretch> stretches = timeline.stretches();
    std::ranges::sort(stretches, {}, [](const auto& s) { return std::pair(s.thread, s.begin); });
    for (std::size_t i = 1; i < stretches.size(); ++i) {
      CHECK(stretches[i].begin <= stretches[i].end);
      if (stretches[i].thread == stretches[i - 1].thread) CHECK(stretches[i].begin >= stretches[i - 1].end);
    }
  }
}

TEST_CASE("the timeline as text: a letter for what a thread did longest in a column, a dot for waiting") {
  const std::vector<LoadTimeline::Stretch> stretches = {{Stage::inflating, 0, 0.0, 0.2, 0.2},
                                                        {Stage::parsing, 1, 0.2, 0.4, 0.2},
                                                        {Stage::parsing, 0, 0.2, 0.6, 0.4},
                                                        {Stage::building, 0, 0.6, 0.8, 0.3}};
  const std::string text = stages_text(stretches, {});
  CHECK(text.find("0.800 s from file to queryable") == 0);
  CHECK(text.find("a column is 10.0 ms\n") != std::string::npos);
  CHECK(text.find("thread 0   " + std::string(20, 'i') + std::string(40, 'p') + std::string(20, 'B') + "\n") !=
        std::string::npos);
  CHECK(text.find("thread 1   " + std::string(20, '.') + std::string(20, 'p') + std::string(40, '.') + "\n") !=
        std::string::npos);
  CHECK(text.find("  i inflating  0.000 to 0.200 s, 0.200 s of the threads\n") != std::string::npos);
  CHECK(text.find("  B building   0.600 to 0.800 s, 1.5 cores busy\n") != std::string::npos);
  CHECK(text.find("  . waiting    0.400 s of the threads, 33 % of their time until the file was read\n") != std::string::npos);
}
