#include "core/view/search/search_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "tests/support/hand_trace.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string lowered(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

// Every slice by itself, then sorted.
template <class Wanted>
std::vector<SliceId> naive(const Trace& trace, Wanted wanted) {
  std::vector<SliceId> hits;
  for (std::size_t i = 0; i < trace.slice_count(); ++i) {
    if (wanted(SliceId(i))) hits.push_back(SliceId(i));
  }
  std::sort(hits.begin(), hits.end(),
            [&](SliceId a, SliceId b) { return std::pair(trace.begin(a), a) < std::pair(trace.begin(b), b); });
  return hits;
}

std::shared_ptr<Trace> three_lanes() {
  return hand_trace(
      {{"python", "thread 1", LaneKind::cpu_thread, {{{"aten::mm", 0, 100}, {"aten::add", 200, 250}}, {{"launch", 10, 20}}}},
       {"GPU 0", "stream 7", LaneKind::gpu_stream, {{{"gemm", 30, 90, Kind::kernel}, {"gemm", 95, 99, Kind::kernel}}}},
       {"GPU 0", "stream 9", LaneKind::gpu_stream, {{{"Gemm add", 5, 15, Kind::kernel}}}}});
}

std::vector<std::string> found(const Trace& trace, const std::string& text, bool regex = false) {
  std::vector<std::string> names;
  for (const SliceId hit : find_slices(trace, {text, regex}).hits) names.push_back(std::string(trace.name(hit)));
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("what is found comes in time order, from all lanes") {
  const auto trace = three_lanes();
  CHECK(found(*trace, "gemm") == Names{"Gemm add", "gemm", "gemm"});
  CHECK(found(*trace, "add") == Names{"Gemm add", "aten::add"});
  CHECK(found(*trace, "^gemm$", true) == Names{"gemm", "gemm"});
  CHECK(found(*trace, "gemm lane:\"stream 7\" dur<=4ns") == Names{"gemm"});
  CHECK(found(*trace, "lane:gpu") == Names{"Gemm add", "gemm", "gemm"});
  CHECK(found(*trace, "cat:kernel dur>10ns") == Names{"gemm"});
  CHECK(found(*trace, "").empty());
}

TEST_CASE("lanes are found by their titles") {
  const auto trace = three_lanes();
  CHECK(find_slices(*trace, {"stream", false}).lanes == std::vector<LaneId>{LaneId(1), LaneId(2)});
  CHECK(find_slices(*trace, {"gemm", false}).lanes.empty());
}

TEST_CASE("Python frames are hits in their time, and on the way through the hits they come after all others") {
  const auto trace = hand_trace(
      {{"python", "thread 1", LaneKind::cpu_thread, {{{"run_gemm", 0, 60, Kind::python}, {"run_gemm", 60, 90, Kind::python}}}},
       {"GPU 0", "stream 7", LaneKind::gpu_stream, {{{"gemm", 30, 40, Kind::kernel}, {"gemm", 80, 85, Kind::kernel}}}}});
  CHECK(found(*trace, "gemm") == Names{"run_gemm", "gemm", "run_gemm", "gemm"});
  const SearchAnswer answer = find_slices(*trace, {"gemm", false});
  const auto begins_from = [&](Ns now) {
    std::vector<Ns> begins;
    SliceId at;
    for (int i = 0; i < 4; ++i) begins.push_back(trace->begin(at = step_hit(*trace, answer, at, now, 1)));
    return begins;
  };
  CHECK(begins_from(0) == std::vector<Ns>{30, 80, 0, 60});
  CHECK(begins_from(50) == std::vector<Ns>{80, 0, 60, 30});
  const SliceId kernel = step_hit(*trace, answer, {}, 0, 1), frame = step_hit(*trace, answer, kernel, 0, -1);
  CHECK(trace->begin(frame) == 60);
  CHECK(hit_position(*trace, answer, kernel) == 1);
  CHECK(hit_position(*trace, answer, frame) == 4);
  const SearchAnswer alone = find_slices(*trace, {"run", false});
  CHECK(trace->begin(step_hit(*trace, alone, {}, 10, 1)) == 60);
  CHECK(trace->begin(step_hit(*trace, alone, kernel, 0, 1)) == 60);
}

TEST_CASE("hits are walked round and round, from any slice and from none") {
  const auto trace = three_lanes();
  const SearchAnswer answer = find_slices(*trace, {"gemm", false});
  const std::vector<SliceId>& hits = answer.hits;
  REQUIRE(hits.size() == 3);
  CHECK(step_hit(*trace, answer, hits[0], 0, 1) == hits[1]);
  CHECK(step_hit(*trace, answer, hits[2], 0, 1) == hits[0]);
  CHECK(step_hit(*trace, answer, hits[0], 0, -1) == hits[2]);
  CHECK(step_hit(*trace, answer, {}, 20, 1) == hits[1]);
  CHECK(step_hit(*trace, answer, {}, 20, -1) == hits[0]);
  CHECK(step_hit(*trace, answer, SliceId(1), 0, 1) == hits[0]);  // aten::add is behind all of them
  CHECK(step_hit(*trace, answer, SliceId(1), 0, -1) == hits[2]);
  CHECK(hit_position(*trace, answer, hits[1]) == 2);
  CHECK(hit_position(*trace, answer, SliceId(1)) == 0);
}

TEST_CASE("a run of slices holds a hit exactly when one of them is one") {
  const auto trace = three_lanes();
  const SearchAnswer answer = find_slices(*trace, {"add", false});
  CHECK(holds_hit(*trace, answer, SliceId(0), {0, 250}));
  CHECK_FALSE(holds_hit(*trace, answer, SliceId(0), {0, 200}));
}

TEST_CASE("what was not found says so and what was searched") {
  const auto trace = three_lanes();
  CHECK(search_summary(*trace, find_slices(*trace, {"conv", false})) == "No slice matches conv; 6 were looked at.");
  CHECK(search_summary(*trace, find_slices(*trace, {"gemm", false})) == "3 slices, 74 ns");  // 10, 60 and 4
  CHECK(search_summary(*trace, find_slices(*trace, {"dur>1", false})) ==
        "dur>1 cannot be read: write dur>1ms, >=, <, <= or =, with ns, us, ms or s.");
}

TEST_CASE("slices that begin together come in order of id, and times far apart in order") {
  constexpr Ns kEpoch = 4'367'497'539'681'444;
  const auto trace = hand_trace(
      {{"python",
        "thread 1",
        LaneKind::cpu_thread,
        {{{"a", kEpoch, kEpoch + 90}, {"a", kEpoch + 5'000'000'000, kEpoch + 6'000'000'000}}, {{"ab", kEpoch, kEpoch + 50}}}},
       {"GPU 0", "stream 7", LaneKind::gpu_stream, {{{"ba", kEpoch, kEpoch + 5}, {"a", kEpoch + 2'048, kEpoch + 3'000}}}}});
  CHECK(find_slices(*trace, {"a", false}).hits == naive(*trace, [](SliceId) { return true; }));
  CHECK(find_slices(*trace, {"dur>0ns", false}).hits == naive(*trace, [](SliceId) { return true; }));
  CHECK(find_slices(*trace, {"b", false}).hits == std::vector<SliceId>{SliceId(2), SliceId(3)});
}

TEST_CASE("a search that is cancelled ends with little") {
  const auto trace = three_lanes();
  const std::atomic<bool> cancel = true;
  CHECK(find_slices(*trace, {"gemm", false}, &cancel).hits.empty());
}

TEST_CASE("on real traces the search finds what a look at every slice finds") {
  const auto files = real_traces();
  for (std::size_t f = 0; f < files.size(); f += 7) {
    CAPTURE(files[f].string());
    const Trace& trace = *load_once(files[f]);
    for (const std::string word : {"e", "gemm", "cudaLaunch"}) {
      const SearchAnswer answer = find_slices(trace, {word + " dur>=3us", false});
      const auto expected = naive(trace, [&](SliceId s) {
        return lowered(trace.name(s)).find(lowered(word)) != std::string::npos && trace.duration(s) >= 3000;
      });
      CHECK(answer.hits == expected);
      const auto bits = naive(trace, [&](SliceId s) { return answer.is_hit.has(s); });
      CHECK(bits == expected);
    }
  }
}
