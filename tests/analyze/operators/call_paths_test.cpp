#include "core/analyze/operators/call_paths.h"

#include <doctest/doctest.h>

#include <map>

#include "core/analyze/op_table/op_events.h"
#include "tests/support/hand_trace.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

using Path = std::vector<std::string>;
struct Sum {
  Ns total = 0;
  std::uint64_t count = 0;
  friend bool operator==(const Sum&, const Sum&) = default;
};

std::string lane_word(LaneId lane) { return "lane " + std::to_string(lane.value); }

Path path_of(const Trace& trace, const LaneIndex& lanes, SliceId slice) {
  Path path{lane_word(trace.lane_id(slice))};
  for (const SliceId up : lanes.ancestors(slice)) path.emplace_back(row_name(trace.name(up)));
  path.emplace_back(row_name(trace.name(slice)));
  return path;
}

// Each slice by itself.
std::map<Path, Sum> naive(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const Area& area, PathTime time) {
  std::map<Path, Sum> sums;
  for (std::size_t i = 0; i < trace.slice_count(); ++i) {
    const SliceId s(i);
    const LaneKind kind = trace.lane(s).kind;
    const bool gpu = kind == LaneKind::gpu_stream;
    if (kind == LaneKind::overhead || kind == LaneKind::profiler) continue;
    if (!area.has(trace.lane_id(s)) || !touches(trace.span_of(s), area.span) || gpu != (time == PathTime::gpu)) continue;
    const Ns inside = intersect(trace.span_of(s), area.span).length();
    Path path;
    if (!gpu) {
      path = path_of(trace, lanes, s);
    } else {
      if (!is_gpu_work(trace.kind(s))) continue;
      SliceId by = links.call_of(s);
      if (!by) by = links.owner_op(s);
      path = by ? path_of(trace, lanes, by) : Path{lane_word(trace.lane_id(s))};
      path.emplace_back(trace.name(s));
    }
    sums[path].total += inside;
    ++sums[path].count;
  }
  return sums;
}

std::map<Path, Sum> counted(const Trace& trace, const CallPaths& paths) {
  std::map<Path, Sum> sums;
  std::vector<Path> path(paths.size());
  for (std::uint32_t i = 1; i < paths.size(); ++i) {
    REQUIRE(paths.parent[i] < i);
    path[i] = path[paths.parent[i]];
    path[i].push_back(paths.lane[i] ? lane_word(paths.lane[i]) : std::string(row_name(trace.strings[paths.name[i]])));
    if (paths.count[i] > 0) sums[path[i]] = {paths.total[i], paths.count[i]};
  }
  return sums;
}

void check_columns(const CallPaths& paths) {
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    Ns widest = paths.total[0] + 1, earliest = std::numeric_limits<Ns>::min(), below = 0;
    for (const std::uint32_t c : paths.children(i, PathOrder::widest)) {
      REQUIRE(paths.parent[c] == i);
      REQUIRE(paths.total[c] <= widest);
      widest = paths.total[c];
      below += paths.total[c];
    }
    for (const std::uint32_t c : paths.children(i, PathOrder::time)) {
      REQUIRE(paths.parent[c] == i);
      REQUIRE(paths.begin[c] >= earliest);
      earliest = paths.begin[c];
    }
    REQUIRE(paths.own[i] >= std::max<Ns>(paths.total[i] - below, 0));  // more where children overlap
    REQUIRE(paths.own[i] <= paths.total[i]);
  }
}

struct Indexed {
  explicit Indexed(const Trace& t) : trace(t), lanes(t), links(t, lanes) {}
  CallPaths paths(const Area& area, PathTime time) const { return *call_paths(trace, lanes, links, area, time); }
  const Trace& trace;
  LaneIndex lanes;
  LinkIndex links;
};

}  // namespace

TEST_CASE("equal names under the same parent are one path, under another one they are not") {
  const auto trace =
      hand_trace({{"p",
                   "t",
                   LaneKind::cpu_thread,
                   {{{"f", 0, 10}, {"g", 10, 30}, {"f", 30, 50}}, {{"h", 2, 4}, {"h", 12, 20}, {"h", 31, 34}}}}});
  const Indexed of(*trace);
  const CallPaths paths = of.paths(whole_area(*trace), PathTime::cpu);
  REQUIRE(paths.size() == 6);  // all, the lane, f, f;h, g, g;h
  const auto sums = counted(*trace, paths);
  CHECK(sums.at({"lane 0", "f"}) == Sum{30, 2});
  CHECK(sums.at({"lane 0", "f", "h"}) == Sum{5, 2});
  CHECK(sums.at({"lane 0", "g", "h"}) == Sum{8, 1});
  CHECK(paths.total[0] == 50);
}

TEST_CASE("a path's own time is what its children leave uncovered, also where they overlap") {
  const auto trace = hand_trace({{"p",
                                  "t",
                                  LaneKind::cpu_thread,
                                  {{{"f", 0, 100}, {"f", 100, 110}}, {{"g", 10, 80}}, {{"h", 20, 90}}, {{"k", 30, 60}}}}});
  const CallPaths paths = Indexed(*trace).paths(whole_area(*trace), PathTime::cpu);
  std::map<std::string, Ns> own;
  for (std::uint32_t i = 2; i < paths.size(); ++i) own[std::string(trace->strings[paths.name[i]])] = paths.own[i];
  CHECK(own == std::map<std::string, Ns>{{"f", 30}, {"g", 70}, {"h", 40}, {"k", 30}});
  CHECK(paths.own[0] == 0);
  CHECK(paths.own[1] == 0);
  const Indexed of(*trace);
  CHECK(of.paths({{50, 85}, {LaneId(0)}}, PathTime::cpu).own[2] == 0);
}

TEST_CASE("steps are one path, and the recording's own lane is none") {
  const auto trace =
      hand_trace({{"p",
                   "t",
                   LaneKind::cpu_thread,
                   {{{"ProfilerStep#1", 0, 10, Kind::annotation}, {"ProfilerStep#2", 10, 30, Kind::annotation}},
                    {{"f", 2, 4}, {"f", 12, 20}}}},
                  {"p", "PyTorch Profiler", LaneKind::profiler, {{{"PyTorch Profiler (0)", 0, 30, Kind::profiler}}}}});
  const CallPaths paths = Indexed(*trace).paths(whole_area(*trace), PathTime::cpu);
  REQUIRE(paths.size() == 4);  // all, the lane, the steps, f
  CHECK(counted(*trace, paths).at({"lane 0", "ProfilerStep*", "f"}) == Sum{10, 2});
}

TEST_CASE("GPU time is under the call that launched it and what encloses that") {
  const auto doc = document_from_text(kOneLaunch);
  const Area area = whole_area(doc->trace);
  const CallPaths paths = *call_paths(doc->trace, doc->lanes, doc->links, area, PathTime::gpu);
  const auto sums = counted(doc->trace, paths);
  CHECK(sums.size() == 4);
  CHECK(sums.contains(
      {"lane 0", "ProfilerStep*", "aten::add", "cudaLaunchKernel", "_ZN2at6native13reduce_kernelILi512EfEEvT0_"}));
  CHECK(sums.at({"lane 0", "ProfilerStep*", "cudaGraphLaunch", "second"}) == Sum{1500, 1});
  CHECK(paths.total[0] == 2000 + 4000 + 1000 + 1500);
}

TEST_CASE("a cancelled count of paths gives nothing") {
  const auto doc = document_from_text(kOneLaunch);
  const std::atomic<bool> cancel{true};
  for (const PathTime time : {PathTime::cpu, PathTime::gpu})
    CHECK_FALSE(call_paths(doc->trace, doc->lanes, doc->links, whole_area(doc->trace), time, &cancel).has_value());
}

TEST_CASE("on real recordings the paths equal those of each slice by itself") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Trace& trace = *load_once(path);
    if (trace.slice_count() > 100'000 && path.filename() != "llama_train_stack.json.xz") continue;  // the naive way takes long
    const Indexed of(trace);
    const Ns length = trace.span.length();
    const Area middle = area_of_all_lanes(trace, {trace.span.begin + length / 3, trace.span.end - length / 3});
    for (const PathTime time : {PathTime::cpu, PathTime::gpu}) {
      const CallPaths paths = of.paths(middle, time);
      check_columns(paths);
      CHECK(counted(trace, paths) == naive(trace, of.lanes, of.links, middle, time));
    }
  }
}
