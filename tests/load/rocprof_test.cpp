// Recordings of rocprofv3 in memory, damaged in all kinds of ways. Numbers are held by tests/cli/rocprof_check.py.
#include <ctime>
#include <iterator>
#include <random>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/load/load_trace.h"
#include "core/load/rocprof.h"
#include "tests/support/flips.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string process(int pid, int calls) {
  std::string api, dispatches;
  for (int i = 1; i <= calls; ++i) {
    const char* const comma = i == 1 ? "" : ",";
    api += fmt::format(R"({}{{"kind": 1, "operation": 1, "thread_id": {}, "correlation_id": {{"internal": {}}},
      "start_timestamp": {}, "end_timestamp": {}}})",
                       comma, pid, i, 1000 * i, 1000 * i + 100);
    dispatches += fmt::format(R"({}{{"correlation_id": {{"internal": {}}}, "start_timestamp": {}, "end_timestamp": {},
      "dispatch_info": {{"agent_id": {{"handle": 3}}, "queue_id": {{"handle": 1}}, "kernel_id": 2, "group_segment_size": 512,
      "workgroup_size": {{"x": 64, "y": 1, "z": 1}}, "grid_size": {{"x": 640, "y": 1, "z": 1}}}}, "stream_id": {{"handle": 0}}}})",
                              comma, i, 1000 * i + 200, 1000 * i + 900);
  }
  return fmt::format(R"({{"metadata": {{"pid": {}, "command": ["app"]}},
    "agents": [{{"id": {{"handle": 3}}, "type": 2, "logical_node_type_id": 0, "product_name": "AMD Instinct MI300X",
      "wave_front_size": 64, "simd_per_cu": 4, "max_waves_per_simd": 8, "cu_count": 304, "lds_size_in_kb": 64,
      "gfx_target_version": 90402}}],
    "strings": {{"buffer_records": [{{"kind": "NONE", "operations": []}},
      {{"kind": "HIP_RUNTIME_API", "operations": ["none", "hipLaunchKernel"]}}], "marker_api": []}},
    "kernel_symbols": [{{"kernel_id": 2, "formatted_kernel_name": "gemm", "arch_vgpr_count": 64, "sgpr_count": 32}}],
    "buffer_records": {{"hip_api": [{}], "kernel_dispatch": [{}]}}}})",
                     pid, api, dispatches);
}

std::string recording(const std::string& processes) { return "{\n \"rocprofiler-sdk-tool\": [" + processes + "]\n}"; }

}  // namespace

TEST_CASE("a recording of rocprofv3 is a trace") {
  const auto trace = load_trace_from_text(recording(process(4000, 9)), "x_results.json");
  REQUIRE_MESSAGE(trace.ok(), (trace.ok() ? "" : trace.error().message));
  CHECK((*trace)->producer->id == "rocprof");
  CHECK((*trace)->slice_count() == 18);
  CHECK((*trace)->calls.size() == 9);
  REQUIRE((*trace)->gpu.size() == 9);
  CHECK((*trace)->gpu[0].grid[0] == 10);  // of 640 work items
  CHECK((*trace)->gpu[0].registers == 64);
  CHECK((*trace)->header.devices.at(0).sms == 304);
}

TEST_CASE("processes of one recording have ids of their own") {
  const auto trace = load_trace_from_text(recording(process(4000, 9) + "," + process(4001, 9)), "x_results.json");
  REQUIRE_MESSAGE(trace.ok(), (trace.ok() ? "" : trace.error().message));
  std::set<std::uint64_t> ids;
  for (const Call& call : (*trace)->calls) ids.insert(call.correlation);
  CHECK(ids.size() == 18);
}

TEST_CASE("large tables of a recording are not looked through for each record") {
  constexpr int kMany = 20'000;
  std::string agents, dispatches, keys;
  for (int i = 0; i < kMany; ++i) {
    const char* const comma = i == 0 ? "" : ",";
    agents += fmt::format(R"({}{{"id":{{"handle":{}}},"type":2}})", comma, i);
    keys += fmt::format(R"("k{}":1,)", i);
    dispatches += fmt::format(
        R"({}{{"start_timestamp":{},"end_timestamp":{},"dispatch_info":{{"kernel_id":1,"agent_id":{{"handle":1}}}}}})", comma,
        10 * i, 10 * i + 5);
  }
  const std::string text = recording(
      fmt::format(R"({{"agents":[{}],"kernel_symbols":[{{{}"kernel_id":1}}],"buffer_records":{{"kernel_dispatch":[{}]}}}})",
                  agents, keys, dispatches));
  const auto begin = std::clock();
  const auto trace = load_trace_from_text(text, "x.json");
  REQUIRE_MESSAGE(trace.ok(), (trace.ok() ? "" : trace.error().message));
  CHECK((*trace)->slice_count() == kMany);
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 3);  // 0.1; it was 10 and more
}

TEST_CASE("only rocprofv3's JSON is taken for it") {
  CHECK(is_rocprof(" {\n\t\"rocprofiler-sdk-tool\": ["));
  CHECK(!is_rocprof("{\"traceEvents\": [\"rocprofiler-sdk-tool\""));
  CHECK(!is_rocprof("[\"rocprofiler-sdk-tool\"]"));
  CHECK(!is_rocprof(""));
}

TEST_CASE("a damaged recording of rocprofv3 ends in a trace or a sentence") {
  const std::string whole = recording(process(4000, 3));
  constexpr std::string_view kPieces[] = {
      "-1", "null", "{}", "[]", "\"x\"", "18446744073709551615", "-9223372036854775808", "1e300", "true",
      ",",  "}",    "]",  "\"", "0"};
  std::mt19937 random(60);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  std::size_t opened = 0;
  const int damaged = flips(10'000);
  for (int round = 0; round < damaged; ++round) {
    std::string text = whole;
    for (std::size_t i = 1 + below(3); i > 0; --i) {
      // A number in place of another mostly, so that the JSON stays whole.
      const std::size_t from = text.find_first_of("0123456789", 40 + below(text.size() - 40));
      if (from == std::string::npos || below(8) == 0) {
        text.replace(30 + below(text.size() - 30), 1, kPieces[below(std::size(kPieces))]);
      } else {
        const std::size_t end = std::min(text.size(), text.find_first_not_of("0123456789", from));
        text.replace(from, end - from, kPieces[below(std::size(kPieces))]);
      }
    }
    if (below(10) == 0) text.resize(40 + below(text.size() - 40));
    const auto trace = load_trace_from_text(text, "x.json");
    opened += trace.ok() ? 1 : 0;
    if (!trace.ok()) CHECK((trace.error().message.starts_with("x.json ") || trace.error().message.starts_with("The file is ")));
  }
  CHECK(opened > static_cast<std::size_t>(damaged) / 20);
}
