// Tiny recordings at the edges, and every recording at hand against a naive sweep.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/analyze/gpu/gpu_activity.h"
#include "core/analyze/gpu/gpu_series.h"
#include "core/analyze/gpu/idle_gaps.h"
#include "core/analyze/gpu/launches.h"
#include "core/analyze/memory/memory.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Analysed {
  std::shared_ptr<const Trace> owner;
  const Trace& trace;
  LaneIndex lanes;
  LinkIndex links;
  std::vector<GpuOp> ops;
  Steps steps;
  std::vector<GpuActivity> activity;
  std::vector<StreamOps> streams;
  Idle idle;

  explicit Analysed(std::shared_ptr<const Trace> t)
      : owner(std::move(t)),
        trace(*owner),
        lanes(trace),
        links(trace, lanes),
        ops(gpu_ops(trace, links)),
        steps(make_steps(trace, ops)),
        activity(gpu_activity(trace, ops, steps)),
        streams(streams_of(ops)),
        idle(find_idle(trace, ops, streams)) {}
  explicit Analysed(const std::string& inside) : Analysed(load_text(events(inside))) {}
};

std::vector<SliceId> slices_that_hold_up(const Trace& trace) {
  std::vector<SliceId> all;
  for (std::size_t s = 0; s < trace.slice_count(); ++s) {
    const Kind kind = trace.kind(SliceId(s));
    const bool loads = (kind == Kind::op || kind == Kind::annotation) && is_data_loader_name(trace.name(SliceId(s)));
    if (is_call(kind) || kind == Kind::overhead || loads) all.emplace_back(s);
  }
  return all;
}

// How much of the gap a slice covers, as far as it is its cause: less than half only where it is the late launch.
Ns covered_by(const Trace& trace, SliceId slice, const IdleGap& gap) {
  const Ns covered = slice ? intersect(trace.span_of(slice), gap.span).length() : 0;
  return covered > gap.span.length() - covered ? covered : 0;
}

// What the cause of a gap must cover: the most that any suspect of the launching thread, or any overhead, does.
Ns naive_cover(const Trace& trace, const LinkIndex& links, const std::vector<SliceId>& suspects, const IdleGap& gap) {
  const SliceId launch = links.call_of(gap.after);
  Ns most = 0;
  for (const SliceId s : suspects) {
    if (launch && (trace.kind(s) == Kind::overhead || trace.lane_id(s) == trace.lane_id(launch)))
      most = std::max(most, covered_by(trace, s, gap));
  }
  return most;
}

std::string gpu(std::string_view name, std::string_view ts, std::string_view dur, int correlation,
                std::string_view cat = "kernel", std::string_view more = "") {
  return R"({"ph":"X","cat":")" + std::string(cat) + R"(","name":")" + std::string(name) + R"(","pid":0,"tid":7,"ts":)" +
         std::string(ts) + R"(,"dur":)" + std::string(dur) + R"(,"args":{"device":0,"stream":7,"correlation":)" +
         std::to_string(correlation) + std::string(more) + "}}";
}
std::string call(std::string_view ts, std::string_view dur, int correlation, std::string_view name = "cudaLaunchKernel") {
  return slice(name, ts, dur, R"(, "args": {"correlation": )" + std::to_string(correlation) + "}", "cuda_runtime");
}
std::string step(int n, std::string_view ts, std::string_view dur) {
  return slice("ProfilerStep#" + std::to_string(n), ts, dur, "", "user_annotation");
}

// Time during which any of the operations runs that `counts`, between neighbouring begins and ends: O(n) marks, no unions.
template <class Counts>
Ns swept(const std::vector<GpuOp>& ops, Counts counts) {
  std::vector<std::pair<Ns, std::pair<int, int>>> changes;  // time, (class, +1 or -1)
  for (const GpuOp& op : ops) {
    changes.push_back({op.span.begin, {static_cast<int>(op.gpu_class), 1}});
    changes.push_back({op.span.end, {static_cast<int>(op.gpu_class), -1}});
  }
  std::sort(changes.begin(), changes.end());
  std::array<int, 4> running{};
  Ns sum = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    running[static_cast<std::size_t>(changes[i].second.first)] += changes[i].second.second;
    if (i + 1 < changes.size() && counts(running)) sum += changes[i + 1].first - changes[i].first;
  }
  return sum;
}

}  // namespace

TEST_CASE("every recording: the timeline's parts are those of a sweep, and add up") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Analysed a(load_once(path));
    using Running = std::array<int, 4>;
    for (const GpuActivity& device : a.activity) {
      const auto own = ops_of_device(a.ops, device.device);
      const GpuTimeline& t = device.all;
      CHECK(t.busy == swept(own, [](const Running& r) { return r[0] + r[1] + r[2] + r[3] > 0; }));
      CHECK(t.compute == swept(own, [](const Running& r) { return r[0] + r[3] > 0; }));
      CHECK(t.exposed_communication == swept(own, [](const Running& r) { return r[1] > 0 && r[0] + r[3] == 0; }));
      CHECK(t.exposed_copy == swept(own, [](const Running& r) { return r[2] > 0 && r[0] + r[1] + r[3] == 0; }));
      for (const GpuTimeline* part : {&device.all, &device.linked})
        CHECK(part->compute + part->exposed_communication + part->exposed_copy + part->idle == part->total);
      CHECK(device.all.count == device.unlinked_count + (device.any_linked ? device.linked.count : 0));

      const GpuSeries series(a.trace, own);
      const Span over = device.over;
      std::vector<Ns> edges;
      for (Ns i = 0; i <= 777; ++i) edges.push_back(over.begin + over.length() / 777 * i);
      std::vector<double> means;
      series.utilization_between(edges, means);
      bool as_asked_alone = true;
      for (std::size_t i = 0; i < means.size(); ++i)
        as_asked_alone = as_asked_alone && std::abs(means[i] - series.utilization({edges[i], edges[i + 1]})) < 1e-9;
      if (over.length() > 777) CHECK(as_asked_alone);
      const Ns kernels = swept(own, [](const Running& r) { return r[0] + r[1] > 0; });
      if (!t.span.empty())
        CHECK(series.utilization(t.span) ==
              doctest::Approx(static_cast<double>(kernels) / static_cast<double>(t.span.length())).epsilon(1e-9));
    }
    for (const Step& s : a.steps.steps) {
      Ns sum = 0;
      for (const Ns part : s.time) sum += part;
      CHECK(sum == s.span.length());
    }
    Ns idle = 0, all_idle = 0;
    for (const StreamIdle& s : a.idle.streams) idle += s.time[0] + s.time[1] + s.time[2];
    for (const GpuActivity& device : a.activity) all_idle += device.all.idle;
    CHECK(idle >= all_idle);  // one stream: equal; more: a stream may rest while another works
    const std::vector<SliceId> suspects = slices_that_hold_up(a.trace);
    for (std::size_t i = 0; i < a.idle.gaps.size(); i += std::max<std::size_t>(1, a.idle.gaps.size() / 50)) {
      const IdleGap gap = a.idle.gaps[i];
      CHECK(covered_by(a.trace, gap.cause, gap) == naive_cover(a.trace, a.links, suspects, gap));
    }
    const GpuUse use = gpu_use(a.trace, a.ops);
    if (use.gpu_util) CHECK((*use.gpu_util >= 0 && *use.gpu_util <= 1));
    if (use.gpu_window_util) CHECK((*use.gpu_window_util >= 0 && *use.gpu_window_util <= 1));
    for (const MemoryDevice& m : memory_use(a.trace, a.lanes).devices)
      for (std::size_t i = 0; i < m.points.size(); ++i) CHECK(m.points[i].allocated <= m.points[m.peak].allocated);
  }
}

TEST_CASE("no GPU: nothing on any device, steps keep their CPU time") {
  const Analysed a(step(1, "0", "100") + "," + slice("aten::add", "10", "20"));
  CHECK(a.activity.empty());
  CHECK(a.idle.gaps.empty());
  REQUIRE(a.steps.steps.size() == 1);
  CHECK(a.steps.steps[0].time[static_cast<std::size_t>(StepRole::cpu_exec)] == 20'000);
  CHECK(a.steps.steps[0].time[static_cast<std::size_t>(StepRole::other)] == 80'000);
  CHECK(stream_queues(a.ops, a.streams).empty());
  CHECK(launch_stats(a.trace, a.ops, a.streams).delay.count == 0);
  CHECK(!gpu_use(a.trace, a.ops).gpu_window_util);
}

TEST_CASE("no steps: one step of all operators") {
  const Analysed a(slice("aten::add", "10", "20") + "," + slice("aten::mul", "50", "5"));
  CHECK(!a.steps.annotated);
  REQUIRE(a.steps.steps.size() == 1);
  CHECK(a.steps.steps[0].span == Span{10'000, 55'000});
}

TEST_CASE("zero durations cover no time and leave no NaN") {
  const Analysed a(call("0", "0", 1) + "," +
                   gpu("k", "5", "0", 1, "kernel", R"(,"blocks per SM":2,"est. achieved occupancy %":50)"));
  REQUIRE(a.activity.size() == 1);
  CHECK(a.activity[0].all.total == 0);
  CHECK(!a.activity[0].figures.utilization);
  CHECK(!a.activity[0].figures.achieved_occupancy_percent);
  CHECK(gpu_use(a.trace, a.ops).gpu_window_util == std::nullopt);
}

TEST_CASE("without blocks per SM and occupancy these figures are not in the trace") {
  const Analysed a(call("0", "1", 1) + "," + gpu("k", "5", "10", 1));
  CHECK(a.activity[0].figures.utilization == 1.0);
  CHECK(!a.activity[0].figures.sm_efficiency);
  CHECK(!a.activity[0].figures.achieved_occupancy_percent);
}

TEST_CASE("SM efficiency adds up what runs together and stops at 1") {
  const auto blocks = [](std::string_view b) { return R"(,"blocks per SM":)" + std::string(b); };
  const Analysed a(gpu("a", "0", "10", 1, "kernel", blocks("0.25")) + "," + gpu("b", "5", "10", 2, "kernel", blocks("3")));
  CHECK(a.activity[0].figures.sm_efficiency.value() == doctest::Approx((5 * 0.25 + 10 * 1.0) / 15));
}

TEST_CASE("unlinked work is counted apart, and both totals are given") {
  const Analysed a(call("100", "2", 2) + "," + gpu("old", "0", "10", 99) + "," + gpu("new", "110", "5", 2));
  const GpuActivity& d = a.activity[0];
  CHECK(d.unlinked_count == 1);
  CHECK(d.unlinked_time == 10'000);
  CHECK(d.linked.total == 5'000);
  CHECK(d.all.total == 115'000);
  CHECK(launch_stats(a.trace, a.ops, a.streams).unlinked == 1);
}

TEST_CASE("communication is exposed where no compute hides it") {
  const Analysed a(gpu("gemm", "0", "10", 1) + "," + gpu("ncclDevKernel_AllReduce", "5", "10", 2) + "," +
                   gpu("Memcpy HtoD", "12", "10", 3, "gpu_memcpy"));
  const GpuTimeline& t = a.activity[0].all;
  CHECK(t.exposed_communication == 5'000);
  CHECK(t.exposed_copy == 7'000);
  CHECK(a.activity[0].hta.together[3] == 5'000);
  CHECK(a.activity[0].hta.overlap.value() == doctest::Approx(0.5));
}

TEST_CASE("a kernel communicates by its name, or where its args state a collective") {
  const auto class_of = [](const char* name, const char* more) {
    const Analysed a(slice(name, "1", "5", std::string(R"(, "args": {"device": 0, "stream": 7)") + more + "}", "kernel", "7"));
    REQUIRE(a.ops.size() == 1);
    return a.ops[0].gpu_class;
  };
  CHECK(class_of("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "") == GpuClass::communication);
  CHECK(class_of("exchange_halves", R"(, "Collective name": "allreduce", "Group size": 4)") == GpuClass::communication);
  CHECK(class_of("exchange_halves", "") == GpuClass::compute);
}

TEST_CASE("a gap is the host's when the launch came after the stream ran dry") {
  const Analysed a(call("0", "1", 1) + "," + call("2", "1", 2) + "," + call("80", "5", 3) + "," + gpu("a", "5", "10", 1) + "," +
                   gpu("b", "20", "10", 2) + "," + gpu("c", "90", "10", 3) + "," + gpu("d", "130", "1", 77));
  REQUIRE(a.idle.gaps.size() == 3);
  CHECK(a.idle.gaps[0].idle_class == IdleClass::kernel_wait);
  CHECK(a.idle.gaps[1].idle_class == IdleClass::host_wait);
  CHECK(a.trace.begin(a.idle.gaps[1].cause) == 80'000);
  CHECK(a.idle.gaps[2].idle_class == IdleClass::other);  // 30 us, and no launch in the file
  CHECK(a.idle.gaps[2].span.length() == 30'000);
}

TEST_CASE("a sync that covers most of a gap is its cause, before the launch that followed") {
  const Analysed a(call("0", "1", 1) + "," + call("2", "70", 9, "cudaDeviceSynchronize") + "," + call("80", "5", 3) + "," +
                   gpu("a", "5", "10", 1) + "," + gpu("c", "90", "10", 3));
  REQUIRE(a.idle.gaps.size() == 1);
  CHECK(a.idle.gaps[0].idle_class == IdleClass::host_wait);
  CHECK(a.trace.name(a.idle.gaps[0].cause) == "cudaDeviceSynchronize");
}

TEST_CASE("steps begin after the GPU work of the step before, and cut-off last steps are left out") {
  std::string text = step(1, "0", "100") + "," + step(2, "100", "100") + "," + step(3, "200", "100");
  text +=
      "," + call("10", "1", 1) + "," + gpu("a", "50", "100", 1) + "," + call("110", "1", 2) + "," + gpu("b", "160", "60", 2);
  const Analysed a(text);
  REQUIRE(a.steps.steps.size() == 2);
  CHECK(a.steps.dropped == 1);
  CHECK(a.steps.steps[0].span == Span{0, 150'000});
  CHECK(a.steps.steps[1].span == Span{150'000, 220'000});
  CHECK(a.steps.steps[1].kernels == 1);
  CHECK(a.steps.steps[1].launches == 1);
  CHECK(a.steps.at(105'000) == 1);
  CHECK(!a.steps.at(250'000));
}

TEST_CASE("another annotation can be the step; a nested one of the same name is counted, not used") {
  const auto note = [](std::string_view ts, std::string_view dur) { return slice("train", ts, dur, "", "user_annotation"); };
  const Analysed a(note("0", "100") + "," + note("10", "20") + "," + note("200", "50") + "," + step(1, "0", "300"));
  const Steps steps = make_steps(a.trace, a.ops, "train");
  CHECK(steps.steps.size() == 2);
  CHECK(steps.nested == 1);
  CHECK(make_steps(a.trace, a.ops, "nothing").steps.empty());
  CHECK(annotation_names(a.trace) == std::vector<std::pair<std::string, std::uint32_t>>{{"train", 3}});
}

TEST_CASE("launches: short kernels, outliers, delays and depth of the queue") {
  const Analysed a(call("0", "10", 1) + "," + call("20", "60", 2) + "," + gpu("a", "200", "2", 1) + "," +
                   gpu("b", "210", "30", 2));
  const LaunchStats s = launch_stats(a.trace, a.ops, a.streams);
  CHECK(s.short_kernels == 1);
  CHECK(s.runtime_outliers == 1);
  CHECK(s.delay_outliers == 2);
  CHECK(s.delay.max == 190'000);
  CHECK(s.kernel_gap.median == 8'000);
  const auto queues = stream_queues(a.ops, a.streams);
  REQUIRE(queues.size() == 1);
  CHECK(queues[0].max_depth == 2);
  CHECK(queues[0].points.back().depth == 0);
}

TEST_CASE("memory: totals or running sums, the peak with its stack, and who asked") {
  const auto memory = [](std::string_view ts, std::string_view bytes, std::string_view more) {
    return R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":7,"tid":1,"ts":)" + std::string(ts) +
           R"(,"args":{"Device Type":1,"Device Id":0,"Addr":1,"Bytes":)" + std::string(bytes) + std::string(more) + "}}";
  };
  const Analysed sums(slice("aten::empty", "0", "10") + "," + memory("5", "100", "") + "," + memory("6", "50", "") + "," +
                      memory("20", "-100", ""));
  const MemoryUse use = memory_use(sums.trace, sums.lanes);
  REQUIRE(use.devices.size() == 1);
  CHECK(!use.devices[0].states_totals);
  CHECK(use.devices[0].points.back().allocated == 50);
  CHECK(use.devices[0].points[use.devices[0].peak].allocated == 150);
  REQUIRE(use.devices[0].peak_stack.size() == 1);
  CHECK(sums.trace.name(use.devices[0].peak_stack[0]) == "aten::empty");
  CHECK(use.operators[0].allocated == 150);
  CHECK(use.operators[0].allocations == 2);
  const Analysed totals(memory("5", "100", R"(,"Total Allocated":900,"Total Reserved":2000)"));
  const MemoryUse stated = memory_use(totals.trace, totals.lanes);
  CHECK(stated.devices[0].points[0].allocated == 900);
  CHECK(stated.devices[0].peak_reserved == 2000);
  CHECK(memory_use(load_text(events(slice("a", "0", "1"))).operator*(), LaneIndex(sums.trace)).devices.empty());
}

namespace {

// The highest value that holds at any time of the range: by looking at every point.
std::int64_t most_in(const MemoryCurve& points, Span range) {
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Ns end = i + 1 < points.size() ? points.time(i + 1) : range.end;
    if (points.time(i) < range.end && end > range.begin && (end > points.time(i) || i + 1 == points.size()))
      most = std::max(most, points[i].allocated);
  }
  return most;
}

}  // namespace

TEST_CASE("the memory of a stretch of time is that of its records, beginning with what holds at its begin") {
  std::size_t seen = 0;
  for (const auto& path : real_traces()) {
    const Trace& trace = *load_once(path);
    if (trace.memory.empty()) continue;
    CAPTURE(path.string());
    const LaneIndex lanes(trace);
    const MemoryUse whole = memory_use(trace, lanes);
    const Ns length = trace.span.length();
    for (int i = 0; i < 8; ++i) {
      const Span range{trace.span.begin + length * i / 9, trace.span.begin + length * (i + 2) / 9};
      const MemoryUse use = memory_use(trace, lanes, range);
      std::uint64_t allocations = 0, frees = 0, told = 0, given = 0, of_operators = 0;
      std::int64_t bytes = 0, asked = 0;
      for (const MemoryRow& row : trace.memory) {
        if (row.out_of_memory || row.time < range.begin || row.time >= range.end) continue;
        ++(row.bytes >= 0 ? allocations : frees);
        bytes += std::max<std::int64_t>(row.bytes, 0);
      }
      for (const MemoryOperator& op : use.operators) asked += op.allocated, of_operators += op.allocations;
      for (const MemoryDevice& device : use.devices) {
        told += device.allocations;
        given += device.frees;
        for (const MemoryDevice& all : whole.devices)
          if (all.device_type == device.device_type && all.device == device.device && !device.points.empty())
            CHECK(device.points[device.peak].allocated == most_in(all.points, range));
      }
      CHECK(told == allocations);
      CHECK(of_operators == allocations);
      CHECK(given == frees);
      CHECK(asked == bytes);
      ++seen;
    }
    const MemoryUse all = memory_use(trace, lanes, Span{trace.span.begin, trace.span.end + 1});
    CHECK(all.operators.size() == whole.operators.size());
    for (std::size_t d = 0; d < whole.devices.size(); ++d) CHECK(all.devices[d].peak == whole.devices[d].peak);
  }
  CHECK(seen > 0);
}

TEST_CASE("whose memory: ROCm's is a GPU's, and the CPU reserves nothing") {
  CHECK(memory_device_name(0, -1) == "CPU");
  CHECK(memory_device_name(1, 0) == "GPU 0");
  CHECK(memory_device_name(6, 2) == "GPU 2");
  CHECK(memory_device_name(19, 1) == "device type 19 number 1");
  const Analysed host(R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":7,"tid":1,"ts":5,
      "args":{"Device Type":0,"Device Id":-1,"Addr":1,"Bytes":64,"Total Allocated":64,"Total Reserved":0}})");
  const MemoryUse use = memory_use(host.trace, host.lanes);
  REQUIRE(use.devices.size() == 1);
  CHECK(use.devices[0].peak_reserved == -1);
  CHECK(use.devices[0].points[0].allocated == 64);
}
