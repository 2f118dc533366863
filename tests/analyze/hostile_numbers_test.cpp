// Times and sizes as large as a file can state them: sums stop at the largest number and never turn negative.
#include <limits>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/gpu/occupancy.h"
#include "core/analyze/op_table/op_table.h"
#include "core/diagnose/trust.h"
#include "core/session/trace_session.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kLong = "4600000000000000";  // us: 146 years

// Operators, calls and kernels of 146 years each, and memory records of 2^63 - 1 bytes.
std::string text() {
  std::string out;
  for (int i = 1; i <= 6; ++i) {
    const auto lane = std::to_string(i);
    out += slice("aten::x", "-4600000000000000", kLong, R"(, "args": {"External id": )" + lane + "}", "cpu_op", lane) + ",";
    out += slice("cudaLaunchKernel", "-4600000000000000", kLong,
                 fmt::format(R"(, "args": {{"External id": {}, "correlation": {}}})", i, i), "cuda_runtime", lane) +
           ",";
    out +=
        slice(
            "k", "0", kLong,
            fmt::format(
                R"(, "args": {{"External id": {0}, "correlation": {0}, "device": 0, "stream": {0}, "grid": [4294967295, 4294967295, 4294967295],
                             "block": [4294967295, 4294967295, 4294967295], "blocks per SM": 1e300, "est. achieved occupancy %": 1e300,
                             "registers per thread": 4294967295, "shared memory": 4294967295}})",
                i),
            "kernel", lane) +
        ",";
    for (const std::string_view bytes : {"9223372036854775807", "9223372036854775807", "-9223372036854775808"})
      out += fmt::format(
          R"({{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 7, "tid": {}, "ts": -{}, "args": {{"Bytes": {}, "Addr": 1,
                         "Device Id": 0, "Device Type": 0}}}},)",
          i, i, bytes);
  }
  out.pop_back();
  return events(out);
}

}  // namespace

TEST_CASE("times of a century are added up without turning negative") {
  const auto t = load_text(text());
  REQUIRE(t->slice_count() == 18);
  const TraceSession session(t);
  const auto* const facts = &session;
  CHECK(facts->kernels().total == kMost);
  CHECK(facts->kernels().rows.at(0).total == kMost);
  CHECK(facts->kernels().rows.at(0).mean == doctest::Approx(4.6e18));
  const NsSummary& calls = facts->streams().launches.call_time;
  CHECK(calls.total == kMost);
  CHECK(calls.mean == 4'600'000'000'000'000'000);
  for (const TableMode mode : {TableMode::exact, TableMode::corrected}) {
    const OpTable table = make_op_table(*t, facts->op_events(mode));
    for (const OpTableRow& row : table.rows) {
      CAPTURE(row.name);
      if (!row.on_gpu) CHECK(row.cpu == kMost);
      CHECK(row.cuda >= 0);
      CHECK(row.self_cuda >= 0);
    }
    CHECK(table.self_cuda_total == kMost);
  }
  const GpuActivity& gpu = facts->usage().devices.at(0);
  CHECK(gpu.all.total == 4'600'000'000'000'000'000);
  CHECK(gpu.figures.utilization.value_or(0) <= 1);
  const Trust trust = trust_of(*t, facts->ops(), facts->account());
  CHECK(trust_text(trust).find("too large to add up. Sums end at 292 years") != std::string::npos);
  AccountTimes all = facts->account().busiest()->times;
  for (int i = 0; i < 3; ++i) all += all;
  CHECK(all.window == kMost);
  CHECK(all.compute == kMost);
  CHECK(gpu.figures.sm_efficiency.value_or(0) == doctest::Approx(0.5));  // busy in the later half of the time
}

TEST_CASE("bytes near the largest number are added up without wrapping") {
  const auto t = load_text(text());
  const LaneIndex lanes(*t);
  const MemoryUse use = memory_use(*t, lanes);
  REQUIRE(use.operators.size() == 1);
  CHECK(use.operators[0].allocated == kMost);
  CHECK(use.operators[0].freed == kMost);
  for (std::size_t i = 0; i < use.devices.at(0).points.size(); ++i) CHECK(use.devices[0].points[i].allocated >= -1);
}

TEST_CASE("a block of 2^96 threads fits on no SM, and a grid of as many blocks is the largest there is") {
  const auto t = load_text(text());
  const GpuRow& row = t->gpu[0];
  CHECK(grid_blocks(row) == std::numeric_limits<std::uint64_t>::max());
  CHECK(needs_of(row).threads > 0);
  DeviceProperties device;
  device.compute_major = 9;
  device.max_threads_per_sm = device.regs_per_sm = device.shared_mem_per_sm = device.sms = kMost;
  const auto sm = sm_limits(device);
  REQUIRE(sm.has_value());
  const auto fit = occupancy(*sm, needs_of(row));
  if (fit) CHECK(fit->active_warps <= fit->max_warps);
}

TEST_CASE("a time further than 146 years from 0 is no time, and a number that does not fit is none") {
  const auto t = load_text(events(
      slice("far", "4611686018427387.904", "1") + "," + slice("before", "-4611686018427387.904", "1") + "," +
      slice("near", "4611686018427387.903", "0") + "," + slice("long", "4611686018427387", "1") + "," +
      slice("k", "5", "1", R"(, "args": {"stream": 4294967303, "device": 4294967296, "correlation": 5})", "kernel", "9")));
  CHECK(t->report.count(ImportIssue::no_timestamp) == 2);
  const auto marks = load_text(events(slice("a", "0", "1") +
                                      R"(,{"ph": "i", "s": "g", "name": "far", "pid": 7, "tid": 1, "ts": 5000000000000000},)" +
                                      R"({"ph": "C", "name": "far", "pid": 7, "ts": -5000000000000000, "args": {"a": 1}})"));
  CHECK(marks->report.count(ImportIssue::no_timestamp) == 2);
  CHECK(marks->instants.empty());
  CHECK(t->report.count(ImportIssue::missing_duration) == 1);
  CHECK(t->slice_count() == 3);
  REQUIRE(t->gpu.size() == 1);
  CHECK(t->gpu[0].stream == 9);  // by its lane
  CHECK(t->gpu[0].device == -1);
}
