#include <chrono>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/base/parallel.h"
#include "core/index/link_index.h"
#include "core/load/args.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("the object form and the bare array hold the same slices") {
  const std::string inside = slice("a", "1.5", "2") + ",\n" + slice("b", "2", "0.25");
  const auto object = load_text(events(inside));
  const auto array = load_text("[" + inside + "]");
  REQUIRE(object->slice_count() == 2);
  REQUIRE(array->slice_count() == 2);
  CHECK(object->name(SliceId(0u)) == "a");
  CHECK(object->span_of(SliceId(0u)) == Span{1'500, 3'500});
  CHECK(array->depth(SliceId(1u)) == 1);
  CHECK(object->span == Span{1'500, 3'500});
}

TEST_CASE("devices are found by their ids in whatever order the header names them") {
  const auto t =
      load_text(R"({"deviceProperties": [{"id": 7, "name": "seven"}, {"id": 0, "name": "none"}, {"id": 7, "name": "again"},
    {"id": 3, "name": "three"}], "traceEvents": [)" +
                slice("a", "1", "2") + "]}");
  REQUIRE(t->device(3) != nullptr);
  CHECK(t->device(3)->name == "three");
  CHECK(t->device(7)->name == "seven");
  CHECK(t->device(0)->name == "none");
  CHECK(t->device(1) == nullptr);
  CHECK(t->header.devices.size() == 4);
}

TEST_CASE("keys may come in any order, also after the args") {
  const auto t = load_text(
      events(R"({"args": {"stream": 7, "correlation": 3, "grid": [4, 2, 1], "block": [128, 1, 1], "registers per thread": 90,
    "shared memory": 49152, "device": 0, "blocks per SM": 0.06, "External id": 12}, "dur": 2.5, "ts": 10, "tid": 7, "pid": 0, "name": "k", "cat": "kernel", "ph": "X"})"));
  REQUIRE(t->gpu.size() == 1);
  const GpuRow& g = t->gpu[0];
  CHECK(g.stream == 7);
  CHECK(g.correlation == 3);
  CHECK(g.grid == std::array<std::uint32_t, 3>{4, 2, 1});
  CHECK(g.registers == 90);
  CHECK(g.shared_memory == 49152);
  CHECK(g.blocks_per_sm == doctest::Approx(0.06));
  CHECK(t->slices.external_id[0] == 12);
  CHECK(t->lanes[0].kind == LaneKind::gpu_stream);
  CHECK(t->lanes[0].title == "GPU 0 stream 7");
}

TEST_CASE("a tid as text and as number is one lane") {
  const auto t =
      load_text(events(slice("a", "1", "1", "", "cpu_op", "\"25738\"") + "," + slice("b", "3", "1", "", "cpu_op", "25738")));
  CHECK(t->lanes.size() == 1);
}

TEST_CASE("B and E make slices, nested and interleaved over threads") {
  const auto t =
      load_text(events(R"({"ph":"B","name":"outer","pid":1,"tid":1,"ts":1},{"ph":"B","name":"inner","pid":1,"tid":1,"ts":2},
    {"ph":"B","name":"other","pid":1,"tid":2,"ts":2},{"ph":"E","pid":1,"tid":1,"ts":3},{"ph":"E","pid":1,"tid":1,"ts":5},{"ph":"E","pid":1,"tid":2,"ts":9})"));
  REQUIRE(t->slice_count() == 3);
  CHECK(t->figures.matched_begin_end == 3);
  CHECK(t->name(SliceId(0u)) == "outer");
  CHECK(t->span_of(SliceId(0u)) == Span{1'000, 5'000});
  CHECK(t->span_of(SliceId(1u)) == Span{2'000, 3'000});
  CHECK(t->report.empty());
}

TEST_CASE("a begin without end is drawn to the end of the trace, an end without begin is counted") {
  const auto t = load_text(
      events(R"({"ph":"E","pid":1,"tid":1,"ts":0.5},{"ph":"B","name":"open","pid":1,"tid":1,"ts":1},)" + slice("x", "2", "8")));
  CHECK(t->report.count(ImportIssue::begin_without_end) == 1);
  CHECK(t->report.count(ImportIssue::end_without_begin) == 1);
  REQUIRE(t->slice_count() == 2);
  CHECK(t->span.end == 10'000);
}

TEST_CASE("async b and e pair by id on a lane of their own") {
  const auto t = load_text(events(
      R"({"ph":"b","cat":"io","id":1,"name":"r1","pid":1,"tid":1,"ts":1},{"ph":"b","cat":"io","id":2,"name":"r2","pid":1,"tid":1,"ts":2},
    {"ph":"e","cat":"io","id":1,"name":"r1","pid":1,"tid":1,"ts":5},{"ph":"n","cat":"io","id":2,"name":"mark","pid":1,"tid":1,"ts":6},
    {"ph":"e","cat":"io","id":2,"name":"r2","pid":1,"tid":1,"ts":8})"));
  REQUIRE(t->slice_count() == 2);
  REQUIRE(t->lanes.size() == 1);
  CHECK(t->lanes[0].is_async);
  CHECK(t->lanes[0].overlapping == 1);
  CHECK(t->instants.size() == 1);
  CHECK(t->duration(SliceId(0u)) == 4'000);
}

TEST_CASE("counters become series of samples in time order") {
  const auto t = load_text(events(
      R"({"ph":"C","name":"mem","pid":1,"ts":5,"args":{"used":2.5,"free":1}},{"ph":"C","name":"mem","pid":1,"ts":1,"args":{"used":1}},)" +
      slice("x", "0", "9")));
  REQUIRE(t->counters.size() == 2);
  CHECK(t->strings[t->counters[0].series] == "used");
  REQUIRE(t->counters[0].samples.size() == 2);
  CHECK(t->counters[0].samples[0].value == 1);
  CHECK(t->counters[0].samples[1].time == 5'000);
}

TEST_CASE("a launch is joined with its kernels by flow and by correlation, one start with many ends") {
  const auto t = load_text(
      events(slice("cudaGraphLaunch", "1", "2", R"(,"args":{"correlation":9,"External id":4})", "cuda_runtime") + "," +
             slice("op", "0.5", "5", R"(,"args":{"External id":4})") +
             R"(,{"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":4,"dur":1,"args":{"correlation":9,"External id":4}},
         {"ph":"X","cat":"kernel","name":"k2","pid":0,"tid":7,"ts":6,"dur":1,"args":{"correlation":9}},
         {"ph":"s","cat":"ac2g","name":"ac2g","id":9,"pid":7,"tid":1,"ts":1},
         {"ph":"f","cat":"ac2g","name":"ac2g","id":9,"pid":0,"tid":"7","ts":4,"bp":"e"},
         {"ph":"f","cat":"ac2g","name":"ac2g","id":9,"pid":0,"tid":7,"ts":6,"bp":"e"},
         {"ph":"f","cat":"ac2g","name":"ac2g","id":10,"pid":0,"tid":7,"ts":6,"bp":"e"})"));
  CHECK(t->flow_counts.bound == 2);
  CHECK(t->flow_counts.unbound_ends == 1);
  CHECK(t->flow_counts.unbound_starts == 0);
  REQUIRE(t->flows.size() == 2);
  const LaneIndex lanes(*t);
  const LinkIndex links(*t, lanes);
  const SliceId k2 = t->flows[1].to;
  CHECK(t->name(k2) == "k2");
  CHECK(t->name(links.call_of(k2)) == "cudaGraphLaunch");
  CHECK(t->name(links.owner_op(k2)) == "op");
  CHECK(links.launched_by(links.call_of(k2)).size() == 2);
  CHECK(links.counts().joined_to_call == 2);
}

TEST_CASE("a flow binds to the slice that begins at its time, not to the one that ends there") {
  const auto t =
      load_text(events(slice("before", "0", "5", "", "cuda_runtime") + "," + slice("at", "5", "5", "", "cuda_runtime") +
                       R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":11,"dur":1},
                                  {"ph":"s","cat":"ac2g","name":"ac2g","id":1,"pid":7,"tid":1,"ts":5},{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":1,"pid":0,"tid":7,"ts":11})"));
  REQUIRE(t->flows.size() == 1);
  CHECK(t->name(t->flows[0].from) == "at");
}

TEST_CASE("processes: CPU above GPU above overhead, sort index first; empty lanes are not shown") {
  const auto t = load_text(events(
      R"X({"ph":"M","name":"process_labels","pid":3,"tid":0,"ts":0,"args":{"labels":"GPU 3"}},
         {"ph":"X","cat":"overhead","name":"Buffer Flush","pid":-1,"tid":0,"ts":1,"dur":1},
         {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1},
         {"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":9},
         {"ph":"M","name":"thread_name","pid":7,"tid":1,"ts":0,"args":{"name":"thread 1 (python3)"}},)X" +
      slice("a", "1", "1")));
  REQUIRE(t->lanes.size() == 4);
  CHECK(t->lanes[0].title == "thread 1 (python3)");
  CHECK(t->lanes[1].kind == LaneKind::gpu_stream);
  CHECK(t->lanes[2].kind == LaneKind::overhead);
  CHECK(t->lanes[3].kind == LaneKind::profiler);
}

TEST_CASE("a GPU whose number is beyond all reason is itself, not another one") {
  const auto kernel = [](const char* pid) {
    return std::string(R"({"ph": "X", "cat": "kernel", "name": "k", "pid": )") + pid + R"(, "tid": 7, "ts": 1, "dur": 1})";
  };
  const auto t = load_text(events(kernel("0") + ", " + kernel("4294967296") + ", " + kernel("18446744073709551616")));
  REQUIRE(t->processes.size() == 3);
  CHECK(t->processes[0].title == "GPU 0");
  CHECK(t->processes[1].title == "GPU 18446744073709551616");  // beyond 64 bits it is a text, whose place is that of 0
  CHECK(t->processes[2].title == "GPU 4294967296");
  CHECK(t->processes[2].device == -1);
}

TEST_CASE("the header is read before and after the events") {
  const auto t = load_text(
      R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}], "record_shapes": 1, "traceEvents": [)" +
      slice("a", "1", "1") + R"(], "baseTimeNanoseconds": 1790857026000000000, "traceName": "x"})");
  REQUIRE(t->device(0) != nullptr);
  CHECK(t->device(0)->sms == 132);
  CHECK(t->header.flag("record_shapes"));
  CHECK(t->header.base_time == 1790857026000000000);
  CHECK(t->report.count(ImportIssue::header_after_events) == 2);
}

TEST_CASE("what cannot be opened says what, where and what to try") {
  CHECK(load_error("hello") ==
        "x.json is a text file that begins with \"hello\", not a trace. Export one with "
        "prof.export_chrome_trace(\"trace.json\").");
  CHECK(load_error("\x7f\x45\x4c\x46\x02\x01\x01") ==
        "x.json is a program, not a trace. Record the program with gapscope record -- COMMAND, or with torch.profiler.");
  CHECK(
      load_error("{\"a\": 1, \"b\": [1, 2]}") ==
      "x.json is JSON without trace events: it has no \"traceEvents\" array at its top level (keys: a, b). Open a file made by "
      "torch.profiler's export_chrome_trace or another Chrome trace.");
  CHECK(load_error("{\"$schema\": 1, \"profiles\": []}").starts_with("x.json is a speedscope profile, not a trace."));
  CHECK(load_error("{\"traceEvents\": []}").find("is a trace without events") != std::string::npos);
  CHECK(load_error("   ") == "x.json ends at byte 3 before any event. Was the recording still being written?");
  CHECK(load_error("{\"traceEvents\": [{\"ph\": \"X\", \"na") ==
        "x.json ends at byte 32 before the first whole event. Was the recording still being written?");
  const auto missing = load_trace("/no/such/file.json");
  REQUIRE(!missing.ok());
  CHECK(missing.error().message == "/no/such/file.json was not found. Check the path.");
  const auto folder = load_trace("/tmp");
  REQUIRE(!folder.ok());
  CHECK(folder.error().message == "/tmp is a folder. Name a trace file (.json or .json.gz) inside it.");
}

TEST_CASE("JSON lines of events are a trace, whatever is between them and wherever they are cut") {
  for (const char* between : {"\n", "\r\n", "\n\n", " \n ", ",\n"})
    for (const std::size_t batch : {std::size_t{0}, std::size_t{16}, std::size_t{100}}) {
      CAPTURE(std::string(between));
      CAPTURE(batch);
      std::string text;
      for (int i = 0; i < 200; ++i)
        text += (i > 0 ? between : "") +
                slice("op " + std::to_string(i), std::to_string(10 * i), "5", R"(, "args": {"a": {"b": 1}})");
      LoadOptions options;
      options.batch_bytes = batch;
      const auto lines = load_trace_from_text(text + "\n", "x.json", options);
      REQUIRE(lines.ok());
      CHECK((*lines)->slice_count() == 200);
      CHECK((*lines)->figures.events == 200);
      CHECK((*lines)->report.empty());
      CHECK(text.substr((*lines)->slices.offset[7], 10) == slice("op 7", "70", "5").substr(0, 10));
    }
  CHECK(load_text(slice("a", "1", "1"))->slice_count() == 1);
}

TEST_CASE("JSON that is no trace is called what it is, with what a trace would have") {
  const auto has = [](const std::string& error, const char* what) {
    CAPTURE(error);
    CHECK(error.find(what) != std::string::npos);
    CHECK(error.find("still being written") == std::string::npos);
  };
  has(load_error("{}"), "x.json is an empty JSON object, not a trace. A trace has its events in an array");
  has(load_error(" { } "), "is an empty JSON object");
  has(load_error("[1, 2, 3]"), "x.json is a JSON array whose elements are no objects, not a trace. A trace has its events");
  has(load_error("[\"a\"]"), "is a JSON array whose elements are no objects");
  has(load_error("[]"), "x.json is a trace without events: its list of events is empty.");
  has(load_error("{\"traceEvents\": []}"), "is a trace without events: its list of events is empty.");
  has(load_error("{\"traceEvents\": {}}"), "x.json is JSON whose \"traceEvents\" is no array.");
  has(load_error("{\"traceEvents\": null}"), "x.json is JSON whose \"traceEvents\" is no array.");
  has(load_error("[{\"a\": 1}]"), "is a JSON array, not a trace");
}

TEST_CASE("a cancelled load says so") {
  LoadProgress progress;
  progress.cancel = true;
  LoadOptions options;
  options.progress = &progress;
  const auto result = load_trace_from_text(events(slice("a", "1", "1")), "x", options);
  REQUIRE(!result.ok());
  CHECK(result.error().message == "Cancelled.");
}

TEST_CASE("a load cancelled while it reads or builds ends soon, at whatever stage that is") {
  std::string inside;
  for (int i = 0; i < 150'000; ++i)
    inside += (i ? "," : "") + slice("op " + std::to_string(i % 999), std::to_string((i * 7919) % 150'000), "3");
  const std::string text = events(inside);
  for (const LoadStage stage : {LoadStage::reading, LoadStage::building}) {
    for (const int wait_ms : {0, 5, 10, 20}) {
      LoadProgress progress;
      LoadOptions options;
      options.threads = 2;
      options.progress = &progress;
      auto loading = start([&] { return load_trace_from_text(text, "x", options); });
      while (progress.stage < static_cast<int>(stage)) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
      progress.cancel = true;
      const auto result = loading.get();
      if (!result.ok()) CHECK(result.error().message == "Cancelled.");
    }
  }
}

TEST_CASE("lanes and processes whose names are one number in two spellings keep one order, whichever comes first") {
  const auto order = [](const char* first, const char* second) {
    const auto e = [](const char* id) {
      return fmt::format(
          R"({{"ph":"X","name":"x","pid":{0},"tid":{0},"ts":1,"dur":1}},{{"ph":"X","name":"x","pid":1,"tid":{0},"ts":1,"dur":1}})",
          id);
    };
    std::string keys;
    const auto t = load_text(events(e(first) + "," + e(second)));
    for (const Lane& lane : t->lanes) keys += t->processes[lane.process.index()].key + "/" + lane.key + " ";
    return keys;
  };
  CHECK(order("7", "07") == order("07", "7"));
}
