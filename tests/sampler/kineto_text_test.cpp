#include "app/sampler/kineto_text.h"

#include <doctest/doctest.h>

#include <limits>

#include <nlohmann/json.hpp>

#include "app/record/recording.h"
#include "app/sampler/call_names.h"
#include "app/sampler/event_text.h"
#include "core/load/load_trace.h"

using namespace gapscope::sampler;
using Json = nlohmann::json;

namespace {

constexpr Ns kBase = 1'735'632'360'000'000'000;

TraceInfo h200() {
  TraceInfo info;
  info.process = 415;
  info.program = "python3";
  info.command = "python3 \"train.py\"";
  info.base = kBase;
  info.devices = {{0, "NVIDIA H200", 150'000'000'000, 9, 0, 1024, 2048, 65536, 65536, 32, 49152, 232448, 233472, 132}};
  return info;
}

Kernel gemm() {
  Kernel k;
  k.times = {kBase + 5'001, kBase + 9'004};
  k.place = {0, 1, 7, 33, 0, 0};
  k.name = "void gemm<(int)128>(float*)";
  k.registers = 168;
  k.static_shared = 1024;
  k.dynamic_shared = 100'000;
  k.grid = {8, 8, 1};
  k.block = {384, 1, 1};
  return k;
}

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

// A whole file of these events.
std::string file_of(const std::string& events) {
  std::string out;
  append_head(out, h200());
  append_process_names(out, h200());
  return out.append(kNextEvent).append(events).append(gapscope::kTraceTail);
}

}  // namespace

TEST_CASE("text comes back from JSON as it was, and what is no UTF-8 becomes a replacement character") {
  for (const std::string text :
       {"plain", "quote \" and \\ back", "line\nfeed\ttab\x01", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"})
    CHECK(Json::parse(as_json(text)).get<std::string>() == text);
  for (const std::string bad : {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xE2\x82", "\xF4\x90\x80\x80"}) {
    const std::string read = Json::parse(as_json("a" + bad + "b")).get<std::string>();
    CHECK(read.starts_with("a\xEF\xBF\xBD"));
    CHECK(read.ends_with("b"));
  }
}

TEST_CASE("times are microseconds with three decimals, counted from Kineto's base") {
  CHECK(base_time(kBase) <= kBase);
  CHECK(kBase - base_time(kBase) < 7'889'238'000'000'000);
  CHECK(base_time(kBase) % 7'889'238'000'000'000 == 0);
  std::string out;
  append_overhead(out, h200(), {{kBase + 1'234'005, kBase + 1'234'005}, 5u << 16});
  CHECK(
      out ==
      R"({"ph": "X", "cat": "overhead", "name": "Lazy Function Loading", "pid": -1, "tid": 0, "ts": 1234.005, "dur": 0.000})");
}

TEST_CASE("a launch carries its arrow's begin and the kernel its end") {
  std::string call, kernel;
  append_call(call, h200(), {{kBase + 1'000, kBase + 4'000}, "cudaLaunchKernel", false, 211, 420, 33});
  append_kernel(kernel, h200(), gemm());
  const Json events = Json::parse("[" + call + std::string(kNextEvent) + kernel + "]");
  REQUIRE(events.size() == 4);
  CHECK(events[0]["cat"] == "cuda_runtime");
  CHECK(events[0]["args"] == Json{{"cbid", 211}, {"correlation", 33}});
  CHECK(events[1]["ph"] == "s");
  CHECK(events[1]["tid"] == 420);
  CHECK(events[2]["args"]["grid"] == Json{8, 8, 1});
  CHECK(events[2]["args"]["shared memory"] == 101'024);
  CHECK(events[3]["ph"] == "f");
  CHECK(events[3]["bp"] == "e");
  CHECK(events[3]["id"] == events[1]["id"]);
}

TEST_CASE("a call that waits for nothing and starts nothing has no arrow") {
  std::string call;
  append_call(call, h200(), {{kBase, kBase + 10}, "cudaMalloc", false, 20, 420, 34});
  CHECK(call.find("ac2g") == std::string::npos);
}

TEST_CASE("blocks and warps of an SM are those of the whole grid, and the occupancy is the true one above 48 KB as well") {
  Kernel k = gemm();
  k.grid = {132, 2, 1};
  std::string text;
  append_kernel(text, h200(), k);
  const Json args = Json::parse("[" + text + "]")[0]["args"];
  CHECK(args["blocks per SM"] == 2.0);
  CHECK(args["warps per SM"] == 24.0);
  // 168 registers a thread: one block of 12 warps of 64 (KINETO 4.8); Kineto itself would write 0 here.
  CHECK(args["est. achieved occupancy %"] == 19);
}

TEST_CASE("a recording is opened with its lanes named, its arrow bound and its operator's shapes read") {
  std::string events;
  append_call(events, h200(), {{kBase + 1'000, kBase + 4'000}, "cudaLaunchKernel", false, 211, 420, 33});
  events += kNextEvent;
  append_kernel(events, h200(), gemm());
  events += kNextEvent;
  append_range(
      events, h200(),
      {{kBase + 500, kBase + 4'500}, 420, R"(aten::mm {"Input Dims": [[64, 64]], "Input type": ["float"]})", "operators"});
  events += kNextEvent;
  append_range(events, h200(), {{kBase + 400, kBase + 4'600}, 420, "ProfilerStep#1", ""});
  events += kNextEvent;
  append_copy(events, h200(), {{kBase + 9'100, kBase + 9'200}, {0, 1, 7, 35, 0, 0}, 1, 2, 3, 4096});
  events += kNextEvent;
  append_sync(events, h200(), {{kBase + 9'100, kBase + 9'900}, {0, 1, -1, 36, 0, 0}, 4, 0});
  events += kNextEvent;
  append_thread_name(events, h200(), 420, "main");
  events += kNextEvent;
  append_stream_name(events, h200(), 0, 7);
  const auto loaded = gapscope::load_trace_from_text(file_of(events));
  REQUIRE(loaded.ok());
  const gapscope::Trace& trace = **loaded;
  CHECK(trace.report.entries().size() == 1);
  CHECK(trace.report.count(gapscope::ImportIssue::flow_end_alone) ==
        2);  // the calls of the copy and of the wait are not in this file
  CHECK(trace.flow_counts.bound == 1);
  REQUIRE(trace.ops.size() == 1);
  CHECK(trace.name(trace.ops[0].slice) == "aten::mm");
  CHECK(trace.strings[trace.ops[0].input_dims] == "[[64, 64]]");
  std::string titles;
  for (const gapscope::Lane& lane : trace.lanes) titles += lane.title + "; ";
  CHECK(titles.find("thread 420 (main)") != std::string::npos);
  CHECK(titles.find("stream 7") != std::string::npos);
  CHECK(trace.header.devices.at(0).name == "NVIDIA H200");
}

TEST_CASE("what an operator's range says is args only where it is JSON on one line, and else its name") {
  for (const std::string& text :
       std::initializer_list<std::string>{R"(aten::mm {"Input Dims": [[64, 64]}})", R"(x {"a": "b})", "x {\"a\":\n1}", "x {}}",
                                          "x {\xFF}", "x {\"a\": 1e999}", std::string("x {}\0}", 6)}) {
    std::string event;
    append_range(event, h200(), {{kBase, kBase + 10}, 420, text, std::string(kOperators)});
    REQUIRE_MESSAGE(Json::accept(event), event);
    CHECK_FALSE(Json::parse(event).contains("args"));
    CHECK(event.find('\n') == std::string::npos);
  }
}

TEST_CASE("numbers that no clock and no kernel has do not overflow") {
  constexpr Ns kLeast = std::numeric_limits<Ns>::min(), kMost = std::numeric_limits<Ns>::max();
  Kernel k = gemm();
  k.times = {kLeast, kMost};
  k.queued = kMost;
  k.submitted = kLeast;
  k.grid = k.block = {2'147'483'647, 2'147'483'647, 2'147'483'647};
  std::string text;
  append_kernel(text, h200(), k);
  const Json event = Json::parse("[" + text + "]")[0];
  CHECK(event["ts"] == 0.0);
  CHECK(event["dur"] == 9223372036854775.807);
  CHECK(event["args"]["queued before begin (ns)"] == kLeast);
  text.clear();
  append_gpu_range(text, h200(), "r", {kLeast, kMost}, 0, 7);
  CHECK(Json::accept(text));
}

TEST_CASE("the driver's small talk is left out, what moves GPU work is kept") {
  CHECK(is_left_out("cudaGetDevice", false));
  CHECK_FALSE(is_left_out("cudaGetDeviceProperties", false));
  CHECK_FALSE(is_left_out("cudaOccupancyMaxActiveBlocksPerMultiprocessor", false));
  CHECK(is_left_out("cuCtxGetCurrent", true));
  CHECK_FALSE(is_left_out("cuLaunchKernelEx", true));
  CHECK_FALSE(is_left_out("cuStreamSynchronize", true));
}
