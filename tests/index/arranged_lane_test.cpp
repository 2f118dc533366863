#include "core/index/arranged_lane.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "core/base/counted_steps.h"
#include "tests/support/hand_trace.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string names_of(const Trace& trace, const ArrangedLane& lane) {
  std::string text;
  for (std::uint32_t d = 0; d < lane.depth_count(); ++d) {
    if (d > 0) text += " / ";
    const RowSlices row = lane.row(d);
    for (std::size_t i = 0; i < row.begin.size(); ++i) text += (i > 0 ? " " : "") + std::string(trace.name(row.id(i)));
  }
  return text;
}

std::shared_ptr<Trace> called_from_python() {
  return hand_trace({{"p",
                      "main",
                      LaneKind::cpu_thread,
                      {{{"module", 0, 100, Kind::python}},
                       {{"forward", 1, 40, Kind::python}, {"aten::relu", 50, 60}},
                       {{"aten::linear", 2, 30}, {"backward", 52, 58, Kind::python}},
                       {{"aten::addmm", 3, 20}}}}});
}

// Two streams with work of one CUDA graph, and one without.
std::shared_ptr<Trace> replayed_graph() {
  auto trace =
      hand_trace({{"GPU 0", "stream 1", LaneKind::gpu_stream, {{{"a", 0, 10, Kind::kernel}, {"d", 30, 40, Kind::kernel}}}},
                  {"GPU 0", "stream 2", LaneKind::gpu_stream, {{{"b", 5, 15, Kind::kernel}, {"c", 10, 20, Kind::kernel}}}},
                  {"GPU 0", "stream 3", LaneKind::gpu_stream, {{{"e", 0, 50, Kind::kernel}}}}});
  trace->processes[0].is_gpu = true;
  for (std::size_t i = 0; i < trace->slice_count(); ++i) {
    GpuRow row;
    row.slice = SliceId(i);
    row.graph_id = trace->name(SliceId(i)) == "e" ? 0 : 9;
    trace->gpu.push_back(row);
  }
  return trace;
}

}  // namespace

TEST_CASE("without its Python frames a thread nests what they called") {
  const auto trace = called_from_python();
  const Arrangements all = make_arrangements(*trace);
  REQUIRE(all.any_python);
  CHECK(names_of(*trace, *all.without_python[0]) == "aten::linear aten::relu / aten::addmm");
}

TEST_CASE("a slice is found at its arranged depth, and one that is left out is not") {
  const auto trace = called_from_python();
  const Arrangements all = make_arrangements(*trace);
  for (std::size_t i = 0; i < trace->slice_count(); ++i) {
    const SliceId slice(i);
    const auto depth = all.without_python[0]->depth_of(slice, trace->begin(slice));
    CHECK(depth.has_value() == (trace->kind(slice) != Kind::python));
    if (trace->name(slice) == "aten::addmm") CHECK(*depth == 1);
  }
}

TEST_CASE("the streams of a replayed graph lie side by side on one lane, and other streams stay out") {
  const auto trace = replayed_graph();
  const Arrangements all = make_arrangements(*trace);
  REQUIRE(all.any_graph_streams);
  CHECK(all.graph_streams[0].lanes == std::vector<LaneId>{LaneId(0), LaneId(1)});
  CHECK(names_of(*trace, *all.graph_streams[0].together) == "a c d / b");
}

TEST_CASE(
    "in every recording, arranged rows hold each slice that is no Python frame once, disjoint and never deeper than with "
    "them") {
  for (const auto& path : real_traces()) {
    const Trace& trace = *load_once(path);
    const Arrangements all = make_arrangements(trace);
    for (std::size_t l = 0; l < trace.lanes.size(); ++l) {
      if (!all.without_python[l]) continue;
      const ArrangedLane& lane = *all.without_python[l];
      std::set<std::uint32_t> seen;
      bool disjoint = true, deeper = true;
      for (std::uint32_t d = 0; d < lane.depth_count(); ++d) {
        const RowSlices row = lane.row(d);
        for (std::size_t i = 0; i < row.begin.size(); ++i) {
          seen.insert(row.id(i).value);
          disjoint = disjoint && (i == 0 || row.end[i - 1] <= row.begin[i]);
          deeper = deeper && d <= trace.depth(row.id(i));
        }
      }
      std::size_t expected = 0;
      for (std::uint32_t i = 0; i < trace.lanes[l].slice_count; ++i)
        expected += trace.kind(SliceId(trace.lanes[l].first_slice + i)) != Kind::python;
      CHECK_MESSAGE(seen.size() == expected, path.filename().string());
      CHECK_MESSAGE(disjoint, path.filename().string());
      CHECK_MESSAGE(deeper, path.filename().string());
    }
  }
}

namespace {

// n GPUs with two streams each that one graph was replayed on.
std::shared_ptr<Trace> many_gpus(std::size_t n) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back(fmt::format("GPU {}", i));
  std::vector<HandLane> lanes;
  for (const std::string& name : names)
    for (Ns begin = 0; begin < 2; ++begin)
      lanes.push_back({name, "stream", LaneKind::gpu_stream, {{{"k", begin, 10, Kind::kernel}}}});
  auto trace = hand_trace(lanes);
  for (Process& p : trace->processes) p.is_gpu = true;
  for (std::size_t i = 0; i < trace->slice_count(); ++i)
    trace->gpu.emplace_back().slice = SliceId(i), trace->gpu.back().graph_id = 9;
  return trace;
}

}  // namespace

TEST_CASE("the streams of thousands of GPUs are arranged in steps in proportion to them") {
  const auto steps = [](std::size_t n) {
    const auto trace = many_gpus(n);
    const std::uint64_t before = counted_steps;
    const Arrangements all = make_arrangements(*trace);
    CHECK(all.graph_streams.size() == n);
    CHECK(all.graph_streams.back().together->depth_count() == 2);
    return counted_steps - before;
  };
  CHECK(steps(4'000) < 5 * steps(1'000));
}

TEST_CASE("slices that lie thousands deep are packed in steps in proportion to them, as if every depth had been asked") {
  const auto steps = [](std::size_t n, Stacking stacking) {
    std::vector<std::vector<HandSlice>> rows;
    std::vector<SliceId> slices;
    for (std::size_t i = 0; i < n; ++i) {
      const Ns begin = static_cast<Ns>(i), end = static_cast<Ns>(2 * n - i % 97);
      rows.push_back({{"k", begin, i % 7 == 0 ? begin + 3 : end, Kind::kernel}});
      slices.emplace_back(i);
    }
    const auto trace = hand_trace({{"GPU 0", "stream", LaneKind::gpu_stream, rows}});
    const std::uint64_t before = counted_steps;
    const ArrangedLane lane(*trace, slices, stacking);
    const std::uint64_t taken = counted_steps - before;
    std::vector<Ns> busy_until;  // by depth
    for (const SliceId s : slices) {
      const Ns begin = trace->begin(s);
      std::size_t depth = 0;
      if (stacking == Stacking::packed)
        while (depth < busy_until.size() && busy_until[depth] > begin) ++depth;
      else
        for (depth = busy_until.size(); depth > 0 && busy_until[depth - 1] <= begin;) --depth;
      if (depth == busy_until.size()) busy_until.push_back(0);
      busy_until[depth] = trace->end(s);
      if (s.value % 50 == 0) CHECK(lane.depth_of(s, begin) == depth);
    }
    return taken;
  };
  for (const Stacking stacking : {Stacking::packed, Stacking::nested}) {
    const std::uint64_t few = steps(1'500, stacking);
    CHECK(few >= 1'500);
    CHECK(steps(6'000, stacking) < 5 * few);
  }
}
