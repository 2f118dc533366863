#include "core/analyze/selection/area_stats.h"

#include <doctest/doctest.h>

#include <map>

#include "core/base/span_set.h"
#include "core/index/lane_index.h"
#include "tests/support/hand_trace.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

using Key = std::pair<int, std::uint32_t>;  // table, key

// The definition, slice by slice: what children take of their parent is the union of them, cut to the area.
std::map<Key, AreaRow> naive(const Trace& trace, const Area& area) {
  const LaneIndex lanes(trace);
  std::map<Key, AreaRow> rows;
  std::map<std::uint32_t, std::vector<Span>> inside;  // by parent
  const auto keys = [&](SliceId s) {
    if (is_annotation(trace.kind(s))) return std::vector<Key>{{3, trace.name_id(s).value}};
    return std::vector<Key>{{0, trace.name_id(s).value}, {1, trace.slices.category[s.index()]}, {2, trace.lane_id(s).value}};
  };
  const auto is_in = [&](SliceId s) {
    const Span span = trace.span_of(s);
    const bool time = span.length() > 0 ? span.overlaps(area.span) : area.span.contains(span.begin);
    return time && std::find(area.lanes.begin(), area.lanes.end(), trace.lane_id(s)) != area.lanes.end();
  };
  for (std::size_t i = 0; i < trace.slice_count(); ++i) {
    const SliceId s(i);
    if (!is_in(s)) continue;
    const Ns time = intersect(trace.span_of(s), area.span).length();
    for (const Key& key : keys(s)) {
      AreaRow& row = rows[key];
      row.key = key.second;
      row.min = row.count == 0 ? time : std::min(row.min, time);
      row.max = std::max(row.max, time);
      ++row.count;
      row.total += time;
      row.self += time;
    }
    if (const SliceId parent = lanes.parent(s)) inside[parent.value].push_back(intersect(trace.span_of(s), area.span));
  }
  for (const auto& [parent, spans] : inside)
    for (const Key& key : keys(SliceId(parent))) rows[key].self -= length(span_set(spans));
  return rows;
}

void check_table(const std::vector<AreaRow>& rows, int table, const std::map<Key, AreaRow>& all) {
  std::size_t expected = 0;
  for (const auto& [key, row] : all) expected += key.first == table;
  REQUIRE(rows.size() == expected);
  for (const AreaRow& row : rows) {
    const AreaRow& other = all.at({table, row.key});
    REQUIRE(row.count == other.count);
    REQUIRE(row.total == other.total);
    REQUIRE(row.self == other.self);
    REQUIRE(row.min == other.min);
    REQUIRE(row.max == other.max);
  }
}

// GPU work of one device, as spans in any order.
Ns naive_busy(const Trace& trace, const Area& area) {
  std::map<std::uint32_t, std::vector<Span>> by_process;
  for (const LaneId lane : area.lanes)
    for (std::uint32_t s = trace.lane(lane).first_slice; s < trace.lane(lane).first_slice + trace.lane(lane).slice_count; ++s)
      if (is_gpu_work(trace.kind(SliceId(s))))
        by_process[trace.lane(lane).process.value].push_back(intersect(trace.span_of(SliceId(s)), area.span));
  Ns busy = 0;
  for (auto& [process, spans] : by_process) busy += length(span_set(spans));
  return busy;
}

const AreaRow& named(const Trace& trace, const AreaStats& stats, std::string_view name) {
  for (const AreaRow& row : stats.by_name)
    if (trace.strings[StringId(row.key)] == name) return row;
  FAIL("no such row");
  return stats.by_name.front();
}

std::shared_ptr<Trace> two_lanes() {
  return hand_trace(
      {{"python",
        "thread 1",
        LaneKind::cpu_thread,
        {{{"outer", 0, 100}}, {{"inner", 10, 30}, {"inner", 50, 90}}, {{"leaf", 60, 70}}}},
       {"GPU 0", "stream 7", LaneKind::gpu_stream, {{{"gemm", 20, 40, Kind::kernel}, {"copy", 80, 85, Kind::memcpy}}}}});
}

}  // namespace

TEST_CASE("times are cut at the edges of the area, self time too") {
  const auto trace = two_lanes();
  const AreaStats stats = *area_stats(*trace, LaneIndex(*trace), {{20, 65}, {LaneId(0)}});
  CHECK(stats.slices == 4);
  CHECK(named(*trace, stats, "outer").total == 45);
  CHECK(named(*trace, stats, "outer").self == 45 - 10 - 15);
  const AreaRow& inner = named(*trace, stats, "inner");
  CHECK(inner.count == 2);
  CHECK(inner.total == 25);
  CHECK(inner.self == 20);
  CHECK(inner.min == 10);
  CHECK(inner.max == 15);
  CHECK(inner.mean() == 12);
  CHECK(stats.self == 45);
}

TEST_CASE("a slice that only meets the edge is not in the area, an empty one at its begin is") {
  const auto trace =
      hand_trace({{"p", "t", LaneKind::cpu_thread, {{{"before", 0, 10}, {"empty", 10, 10}, {"after", 20, 30}}}}});
  const AreaStats stats = *area_stats(*trace, LaneIndex(*trace), {{10, 20}, {LaneId(0)}});
  REQUIRE(stats.by_name.size() == 1);
  CHECK(named(*trace, stats, "empty").total == 0);
}

TEST_CASE("an empty slice at the very end of a trace is in the whole of it") {
  const auto trace = hand_trace({{"p", "t", LaneKind::cpu_thread, {{{"a", 0, 10}, {"end", 10, 10}}}}});
  CHECK(area_stats(*trace, LaneIndex(*trace), whole_area(*trace))->slices == 2);
}

TEST_CASE("children that overlap take from their parent what they cover together") {
  const auto trace = hand_trace(
      {{"p", "t", LaneKind::cpu_thread, {{{"outer", 0, 100}}, {{"one", 10, 80}}, {{"two", 20, 90}}, {{"three", 30, 60}}}}});
  const AreaStats stats = *area_stats(*trace, LaneIndex(*trace), whole_area(*trace));
  // "three" is in "two", which reaches beyond "one".
  CHECK(named(*trace, stats, "outer").self == 20);
  CHECK(named(*trace, stats, "one").self == 70);
  CHECK(named(*trace, stats, "two").self == 40);
  CHECK(stats.by_lane.front().self == 20 + 70 + 40 + 30);
}

TEST_CASE("the gaps of a GPU and its work make up the area") {
  const auto trace = two_lanes();
  const AreaGpu gpu = area_stats(*trace, LaneIndex(*trace), {{10, 90}, {LaneId(1)}})->gpu;
  CHECK(gpu.in_area);
  CHECK(gpu.busy == 25);
  CHECK(gpu.idle == 55);
  CHECK(gpu.gaps == 3);
  CHECK(gpu.longest == Span{40, 80});
  CHECK(gpu.longest_lane == LaneId(1));
  // CPU lanes alone: what the GPUs did meanwhile.
  const AreaGpu beside = area_stats(*trace, LaneIndex(*trace), {{10, 90}, {LaneId(0)}})->gpu;
  CHECK_FALSE(beside.in_area);
  CHECK(beside.busy == 25);
}

TEST_CASE("an annotation around kernels is no work of its own: it counts in its own table alone") {
  const auto trace = hand_trace(
      {{"GPU 0",
        "stream 7",
        LaneKind::gpu_stream,
        {{{"step", 0, 100, Kind::gpu_annotation}}, {{"gemm", 20, 40, Kind::kernel}, {"gemm", 80, 85, Kind::kernel}}}}});
  const AreaStats stats = *area_stats(*trace, LaneIndex(*trace), whole_area(*trace));
  CHECK(stats.slices == 2);
  CHECK(stats.annotations == 1);
  CHECK(stats.self == 25);
  REQUIRE(stats.by_name.size() == 1);
  CHECK(stats.by_name[0].total == 25);
  REQUIRE(stats.by_lane.size() == 1);
  CHECK(stats.by_lane[0].self == 25);
  REQUIRE(stats.by_annotation.size() == 1);
  CHECK(stats.by_annotation[0].total == 100);
  CHECK(stats.by_annotation[0].self == 75);
}

TEST_CASE("a cancelled count gives nothing") {
  const auto trace = two_lanes();
  const std::atomic<bool> cancel{true};
  CHECK_FALSE(area_stats(*trace, LaneIndex(*trace), whole_area(*trace), &cancel).has_value());
}

TEST_CASE("on real recordings every table equals the naive sum") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Trace& trace = *load_once(path);
    const Ns length = trace.span.length();
    Area middle{{trace.span.begin + length / 3, trace.span.end - length / 4}, {}};
    for (std::size_t i = 0; i < trace.lanes.size(); i += i % 3 + 1) middle.lanes.push_back(LaneId(i));
    for (const Area& area : {whole_area(trace), middle}) {
      const AreaStats stats = *area_stats(trace, LaneIndex(trace), area);
      const auto expected = naive(trace, area);
      check_table(stats.by_name, 0, expected);
      check_table(stats.by_category, 1, expected);
      check_table(stats.by_lane, 2, expected);
      check_table(stats.by_annotation, 3, expected);
      if (stats.gpu.in_area) CHECK(stats.gpu.busy == naive_busy(trace, area));
      CHECK(stats.gpu.busy + stats.gpu.idle == area.span.length() * stats.gpu.devices);
    }
  }
}
