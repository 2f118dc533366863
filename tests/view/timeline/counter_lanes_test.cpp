#include "core/view/timeline/counter_lanes.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "core/view/document.h"
#include "core/view/timeline/lane_layout.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/hand_trace.h"
#include "tests/support/load_text.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;

namespace {

struct Samples {
  std::vector<Ns> time;
  std::vector<double> value;
  SampledSeries series() const {
    return {time.size(), [this](std::size_t i) { return time[i]; }, [this](std::size_t i) { return value[i]; }};
  }
};

// What a column reaches by looking at every nanosecond's value.
CounterColumn looked_at(const Samples& samples, Ns begin, Ns end) {
  CounterColumn reach;
  for (Ns t = begin; t < end; ++t) {
    const auto take = [&](double v) {
      reach = {reach.known ? std::min(reach.low, v) : v, reach.known ? std::max(reach.high, v) : v, true};
    };
    std::size_t last = samples.time.size();
    for (std::size_t i = 0; i < samples.time.size(); ++i) {
      if (samples.time[i] <= t) last = i;
      if (samples.time[i] == t) take(samples.value[i]);
    }
    if (last < samples.time.size()) take(samples.value[last]);
  }
  return reach;
}

constexpr std::string_view kCounted = R"json({"traceEvents": [
{"ph": "M", "name": "process_name", "pid": 9, "tid": 0, "args": {"name": "only counters"}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 50, "args": {"External id": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 10, "args": {"External id": 2, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 7, "blocks per SM": 0.5}},
{"ph": "C", "name": "loss", "pid": 9, "ts": 3, "args": {"loss": 4}},
{"ph": "C", "name": "loss", "pid": 9, "ts": 30, "args": {"loss": 2.5}},
{"ph": "C", "name": "batch", "pid": 1, "ts": 30, "args": {"size": -8}},
{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5, "s": "t", "args": {"Device Type": 1, "Device Id": 0, "Bytes": 4096, "Addr": 1, "Total Allocated": 8192, "Total Reserved": 16384}}
]})json";

}  // namespace

TEST_CASE("each pixel column shows the least and the greatest value in it, at any zoom") {
  std::mt19937 random(7);
  Samples samples;
  for (Ns t = 100; samples.time.size() < 500; t += static_cast<Ns>(random() % 4)) {
    samples.time.push_back(t);
    samples.value.push_back(static_cast<double>(random() % 100));
  }
  const SampledSeries series = samples.series();
  for (const Span span : {Span{0, 1000}, Span{90, 890}, Span{300, 420}, Span{2000, 2400}, Span{0, 90}}) {
    for (const int width : {1, 7, 100, 400}) {
      const PixelGrid grid({span, 0, 0}, width, 0);
      std::vector<CounterColumn> columns;
      series.columns(grid, columns);
      REQUIRE(columns.size() == static_cast<std::size_t>(width));
      for (int c = 0; c < width; ++c) {
        const Ns begin = grid.begin_of(c), end = grid.begin_of(c + 1);
        if (end <= begin) continue;  // narrower than a nanosecond
        CAPTURE(span.begin);
        CAPTURE(width);
        CAPTURE(c);
        CHECK(columns[static_cast<std::size_t>(c)] == looked_at(samples, begin, end));
      }
    }
  }
}

TEST_CASE("a value that is no number is no value") {
  Samples samples{{10, 20, 30}, {1, std::nan(""), INFINITY}};
  const SampledSeries series = samples.series();
  CHECK(series.reach() == CounterColumn{1, 1, true});
  CHECK(Samples{}.series().reach() == CounterColumn{});
}

TEST_CASE("every counter has its lane, title, unit and a scale of whole units") {
  const auto doc = test::document_from_text(kCounted);
  CHECK(doc->counters() == nullptr);
  doc->analyze();
  REQUIRE(doc->counters() != nullptr);
  std::string all;
  for (const CounterLane& lane : *doc->counters())
    all += doc->trace.processes[lane.process.index()].key + " " + lane.title + " " + counter_text(lane.unit, lane.low) + " " +
           counter_text(lane.unit, lane.high) + "\n";
  CHECK(all ==
        "0 GPU utilization 0.0 % 100.0 %\n"
        "0 Est. SM efficiency 0.0 % 100.0 %\n"
        "0 Memory of GPU 0 0 B 16.4 kB\n"
        "0 Queue of stream 7 0 1\n"
        "1 batch size -8 0\n"
        "9 loss 0 4.00\n");
}

TEST_CASE("on AMD's GPUs the lane has AMD's word") {
  std::string text(kCounted);
  text.replace(text.find("cudaLaunchKernel"), 16, "hipLaunchKernel");
  const auto doc = test::document_from_text(text);
  doc->analyze();
  REQUIRE(doc->counters()->size() > 1);
  const CounterLane& lane = (*doc->counters())[1];
  CHECK(lane.title == "Est. CU efficiency");
  CHECK(lane.help.find("SM") == lane.help.npos);
}

TEST_CASE("a GPU's share of a column is the mean over it") {
  const auto doc = test::document_from_text(kCounted);
  doc->analyze();
  std::vector<CounterColumn> columns;
  const PixelGrid grid({{10'000, 50'000}, 0, 0}, 2, 10'000);  // the kernel takes the half of both
  const auto share = [&](std::size_t lane) {
    (*doc->counters())[lane].series[0].series->columns(grid, columns);
    return columns[0].high;
  };
  CHECK(share(0) == doctest::Approx(0.5));
  CHECK(share(1) == doctest::Approx(0.25));
}

TEST_CASE("columns within one nanosecond all show that nanosecond of a GPU's share") {
  const auto doc = test::document_from_text(kCounted);
  doc->analyze();
  constexpr Ns kBegin = 20'000 - 50;  // the kernel begins in the middle of what is shown
  const PixelGrid grid({{kBegin, kBegin + 100}, 0, 0}, 1600, kBegin);
  std::vector<CounterColumn> columns;
  (*doc->counters())[0].series[0].series->columns(grid, columns);
  for (int c = 0; c < 1600; ++c) {
    CAPTURE(c);
    CHECK(columns[static_cast<std::size_t>(c)].high == doctest::Approx(c < 800 ? 0 : 1));
  }
}

TEST_CASE(
    "counters lie below the streams of their GPU, or between the header of their process and its lanes, and fold with it and "
    "alone") {
  const auto doc = test::document_from_text(kCounted);
  doc->analyze();
  std::vector<ProcessId> counters;
  for (const CounterLane& lane : *doc->counters()) counters.push_back(lane.process);
  LaneFolds folds;
  reset_folds(folds, doc->trace);
  folds.counter_collapsed.assign(counters.size(), false);
  const auto bands = [&] {
    std::string text;
    const LaneLayout layout(doc->trace, folds, LaneMetrics{}, counters);
    for (const Band& band : layout.bands())
      text += band.kind == BandKind::process ? "P" : band.kind == BandKind::lane ? "l" : band.collapsed ? "c" : "C";
    return text;
  };
  CHECK(bands() == "PlCCCCPClPC");
  toggle_counter(folds, 1);
  CHECK(bands() == "PlCcCCPClPC");
  toggle_process(folds, doc->trace.lanes.back().process);
  CHECK(bands() == "PPClPC");
  set_all_lanes(folds, false);
  CHECK(bands() == "PlCCCCPClPC");
}

TEST_CASE(
    "of many counters the first four of all GPUs, and of any other process, are in sight; a line shows that there are more") {
  const auto trace = test::load_text(test::events(
      R"({"ph":"M","name":"process_labels","pid":0,"args":{"labels":"GPU 0"}},
         {"ph":"M","name":"process_labels","pid":1,"args":{"labels":"GPU 1"}},
         {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0,"stream":7}},
         {"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":1,"dur":1,"args":{"device":1,"stream":7}},
         {"ph":"X","cat":"cpu_op","name":"f","pid":9,"tid":9,"ts":1,"dur":1})"));
  REQUIRE(trace->processes.size() == 3);
  std::vector<ProcessId> processes;  // both GPUs, then the host's
  for (const bool gpus : {true, false})
    for (std::size_t p = 0; p < 3; ++p)
      if (trace->processes[p].is_gpu == gpus) processes.emplace_back(p);
  LaneFolds folds;
  reset_folds(folds, *trace);
  const auto bands = [&](const std::vector<std::size_t>& of_processes) {
    std::vector<ProcessId> counters;
    for (std::size_t p = 0; p < of_processes.size(); ++p) counters.insert(counters.end(), of_processes[p], processes[p]);
    folds.counter_collapsed.assign(counters.size(), true);
    std::string text;
    const LaneLayout layout(*trace, folds, LaneMetrics{}, counters);
    for (const Band& band : layout.bands())
      text += band.kind == BandKind::process         ? std::string("P")
              : band.kind == BandKind::lane          ? std::string("l")
              : band.kind == BandKind::counter       ? std::string("c")
              : band.kind == BandKind::more_counters ? "+" + std::to_string(band.more) + (band.all_behind ? "!" : "")
                                                     : std::string("?");
    return text;
  };
  CHECK(bands({4, 0, 4}) == "PlPlccccPccccl");
  CHECK(bands({5, 0, 5}) == "PlPlcccccPcccccl");  // the line would take the room of the one behind it
  CHECK(bands({15, 0, 6}) == "PlPlcccc+11Pcccc+2l");
  CHECK(bands({15, 4, 0}) == "PlPlcc+13cc+2Pl");
  toggle_all_counters(folds, processes[0]);
  CHECK(bands({6, 4, 0}) == "PlPlcccccc+4cc+2Pl");
  toggle_all_counters(folds, processes[0]);
  CHECK(bands({6, 4, 0}) == "PlPlcc+4cc+2Pl");
}

TEST_CASE("a series with means has each column's mean over time, whatever the zoom") {
  std::mt19937 random(11);
  Samples samples;
  for (Ns t = 50; samples.time.size() < 300; t += 1 + static_cast<Ns>(random() % 5)) {
    samples.time.push_back(t);
    samples.value.push_back(random() % 10 == 0 ? std::nan("") : static_cast<double>(random() % 100));
  }
  const SampledSeries series{samples.time.size(), [&](std::size_t i) { return samples.time[i]; },
                             [&](std::size_t i) { return samples.value[i]; }, SampledSeries::Mean::over_time};
  const auto value_at = [&](Ns t) {
    double value = std::nan("");
    for (std::size_t i = 0; i < samples.time.size() && samples.time[i] <= t; ++i) value = samples.value[i];
    return value;
  };
  for (const Span span : {Span{0, 1000}, Span{100, 500}, Span{200, 240}}) {
    for (const int width : {1, 9, 40}) {
      const PixelGrid grid({span, 0, 0}, width, 0);
      std::vector<CounterColumn> columns;
      series.columns(grid, columns);
      for (int c = 0; c < width; ++c) {
        double sum = 0, known = 0;
        for (Ns t = grid.begin_of(c); t < grid.begin_of(c + 1); ++t)
          if (const double v = value_at(t); std::isfinite(v)) sum += v, known += 1;
        const CounterColumn& column = columns[static_cast<std::size_t>(c)];
        CAPTURE(width);
        CAPTURE(c);
        if (known == 0) continue;
        CHECK(column.averaged);
        CHECK(column.mean == doctest::Approx(sum / known));
      }
    }
  }
}

TEST_CASE("of a GPU's own counters the most telling lie first, and holes between samples are not known") {
  const auto doc = test::document_from_text(R"json({"traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 10, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 400, "args": {"device": 0, "stream": 7, "correlation": 7}},
{"ph": "C", "name": "GPU power", "pid": 0, "ts": 20, "args": {"W": 300}},
{"ph": "C", "name": "Counter sampling", "pid": 0, "ts": 20, "args": {"interval us": 20}},
{"ph": "C", "name": "Counter sampling", "pid": 0, "ts": 200, "args": {"interval us": 0}},
{"ph": "C", "name": "Counter sampling", "pid": 0, "ts": 300, "args": {"interval us": 20}},
{"ph": "C", "name": "DRAM", "pid": 0, "ts": 20, "args": {"read GB/s": 100, "of peak %": 2}},
{"ph": "C", "name": "DRAM", "pid": 0, "ts": 300, "args": {"read GB/s": 100, "of peak %": 2}},
{"ph": "C", "name": "SM", "pid": 0, "ts": 20, "args": {"active %": 90}},
{"ph": "C", "name": "SM", "pid": 0, "ts": 300, "args": {"active %": 90}}
]})json");
  doc->analyze();
  const std::vector<CounterLane>& lanes = *doc->counters();
  std::string order;
  for (const CounterLane& lane : lanes) order += lane.title + "; ";
  CHECK(order.find("SM active %; DRAM of peak %; GPU power W; GPU utilization; ") == 0);
  CHECK(order.find("; DRAM read GB/s; ") > order.find("GPU utilization; "));
  CHECK(order.find("; DRAM read GB/s; ") != std::string::npos);
  CHECK(order.find("Counter sampling") == std::string::npos);
  CHECK(lanes[0].high == 100);
  std::vector<CounterColumn> columns;
  lanes[0].series[0].series->columns(PixelGrid({{0, 400'000}, 0, 0}, 4, 0), columns);
  CHECK((columns[1].known && columns[1].mean == 90));
  CHECK_FALSE(columns[2].known);
  CHECK(columns[3].mean == 90);  // 20 us of it: where the last sample is known to end
  lanes[0].series[0].series->columns(PixelGrid({{320'000, 400'000}, 0, 0}, 4, 0), columns);
  for (const CounterColumn& column : columns) CHECK_FALSE(column.known);
}
