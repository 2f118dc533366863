#include "core/view/memory/allocation_stack.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/diagnosed.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using test::document_from_text;

namespace {

std::string record(int ts, int bytes, int address, int total) {
  return R"({"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": )" + std::to_string(ts) +
         R"(, "args": {"Device Type": 1, "Device Id": 0, "Bytes": )" + std::to_string(bytes) + R"(, "Addr": )" +
         std::to_string(address) + R"(, "Total Allocated": )" + std::to_string(total) +
         R"(, "Total Reserved": 4096}},)"
         "\n";
}

// 1000 bytes are there before; 200 of them are freed at 60.
const std::string kFive =
    R"({"schemaVersion": 1, "traceEvents": [)" + record(10, 300, 1, 1300) + record(20, 500, 2, 1800) +
    record(40, -500, 2, 1300) + record(60, -200, 9, 1100) + record(80, 50, 3, 1150) +
    R"({"ph": "X", "cat": "python_function", "name": "/src/train.py(5): step", "pid": 1, "tid": 1, "ts": 0, "dur": 100, "args": {"Python id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1, "ts": 15, "dur": 10, "args": {"External id": 1}}]})";

AllocationStack stack_of(const Document& document, AllocationsQuestion question) {
  document.analyze();
  return *answer(document, question, nullptr);
}

}  // namespace

TEST_CASE("allocations stand on each other, the largest at the bottom, each while it is in use") {
  const auto document = document_from_text(kFive);
  const AllocationStack stack = stack_of(*document, {1, 0, document->trace.span, 10});
  CHECK(stack.states_addresses);
  REQUIRE(stack.bands.size() == 4);
  CHECK(stack.bands[0].bytes == 500);
  CHECK(stack.bands[1].bytes == 300);
  CHECK(stack.bands[2].bytes == 200);
  CHECK(stack.bands[3].bytes == 50);
  CHECK(stack.others == 0);
  CHECK(stack.most == 1800);
  CHECK(stack.tops == std::vector<std::int64_t>{1000, 1300, 1800, 1800, 1300, 1300, 1100, 1100, 1150, 1150});
  using Run = std::tuple<int, std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t, std::int64_t>;
  std::vector<Run> runs;
  for (const StackedRun& r : stack.runs)
    runs.emplace_back(static_cast<int>(r.of), r.allocation, r.first, r.last, r.low, r.high);
  CHECK(runs == std::vector<Run>{{0, 0, 0, 10, 0, 800},
                                 {1, 0, 2, 4, 800, 1300},
                                 {1, 1, 1, 2, 800, 1100},
                                 {1, 1, 2, 4, 1300, 1600},
                                 {1, 1, 4, 10, 800, 1100},
                                 {1, 2, 0, 1, 800, 1000},
                                 {1, 2, 1, 2, 1100, 1300},
                                 {1, 2, 2, 4, 1600, 1800},
                                 {1, 2, 4, 6, 1100, 1300},
                                 {1, 3, 8, 10, 1100, 1150}});
  CHECK(stack_of(*document, {0, -1, document->trace.span, 10}).bands.empty());  // of no such device
}

TEST_CASE("an allocation says who asked for it, on which line, and when") {
  const auto document = document_from_text(kFive);
  const AllocationStack stack = stack_of(*document, {1, 0, document->trace.span, 10});
  CHECK(allocation_words(*document, stack.bands[0]) == "500 B by aten::empty");
  CHECK(frame_of(*document, stack.bands[0]) == "/src/train.py(5): step");
  CHECK(allocation_time_words(*document, stack.bands[0]) == "in use 20.0 µs to 40.0 µs");
  CHECK(document->trace.name(asked_by(*document, stack.bands[1])) == "/src/train.py(5): step");
  CHECK(allocation_time_words(*document, stack.bands[1]) == "in use from 10.0 µs, not freed in this recording");
  CHECK(allocation_words(*document, stack.bands[2]) == "200 B from before the recording");
  CHECK(allocation_time_words(*document, stack.bands[2]) == "in use until 60.0 µs");
}

TEST_CASE("it follows the time that is shown, and what is too small for a band is in the rest") {
  std::string many = R"({"schemaVersion": 1, "traceEvents": [)";
  int total = 0;
  for (int i = 0; i < 200; ++i) many += record(10 + i % 2, 100 + i, i + 1, total += 100 + i);
  const auto document = document_from_text(many + R"({"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 0, "dur": 100}]})");
  const AllocationStack later = stack_of(*document, {1, 0, {document->trace.span.begin + 50'000, document->trace.span.end}, 1});
  REQUIRE(later.bands.size() == kMostBands);
  CHECK(later.bands.front().bytes == 299);
  CHECK(later.others == 200 - kMostBands);
  std::int64_t rest = 0;
  for (int i = 0; i < 200 - static_cast<int>(kMostBands); ++i) rest += 100 + i;
  REQUIRE(later.runs.back().of == StackedRun::Of::rest);
  CHECK(later.runs.back().high - later.runs.back().low == rest);
  CHECK(later.most == total);
  const AllocationStack before =
      stack_of(*document, {1, 0, {document->trace.span.begin, document->trace.span.begin + 5'000}, 3});
  CHECK(before.bands.empty());
  CHECK(before.most == 0);
}

TEST_CASE("without addresses no stack is shown") {
  const auto document = document_from_text(R"({"schemaVersion": 1, "traceEvents": [)" + record(10, 300, 0, 1300) +
                                           R"({"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 0, "dur": 100}]})");
  const AllocationStack stack = stack_of(*document, {1, 0, document->trace.span, 10});
  CHECK_FALSE(stack.states_addresses);
  CHECK(stack.runs.empty());
}

TEST_CASE("on real recordings every column is filled without a hole up to what the device states") {
  std::size_t devices = 0;
  for (const auto& path : test::real_traces()) {
    if (test::load_once(path)->memory.empty()) continue;
    CAPTURE(path.string());
    const Document& document = test::diagnosed_once(path).document;
    for (const MemoryDevice& device : document.analysis()->memory().devices) {
      const std::uint32_t columns = 97;
      const Span whole = document.trace.span;
      const AllocationStack stack =
          *answer(document, AllocationsQuestion{device.device_type, device.device, whole, columns}, nullptr);
      if (!stack.states_addresses) continue;
      ++devices;
      for (std::size_t i = 1; i < stack.bands.size(); ++i) REQUIRE(stack.bands[i - 1].bytes >= stack.bands[i].bytes);
      std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> parts(columns);
      for (const StackedRun& run : stack.runs)
        for (std::uint32_t c = run.first; c < run.last; ++c) parts[c].emplace_back(run.low, run.high);
      for (std::uint32_t c = 0; c < columns; ++c) {
        std::sort(parts[c].begin(), parts[c].end());
        std::int64_t at = 0;
        for (const auto& [low, high] : parts[c]) {
          REQUIRE(low == at);
          at = high;
        }
        REQUIRE(at == stack.tops[c]);
        // The highest of its column, once the records of one moment are all through.
        const Ns begin = begin_of_column(whole, columns, c), end = begin_of_column(whole, columns, c + 1);
        const auto first = device.points.at(begin);
        std::int64_t highest = first ? device.points[*first].allocated : 0;
        for (std::size_t i = 0; i + 1 < device.points.size(); ++i)
          if (device.points.time(i) >= begin && device.points.time(i) < end &&
              device.points.time(i + 1) != device.points.time(i))
            highest = std::max(highest, device.points[i].allocated);
        if (device.states_totals) REQUIRE(at >= highest);
      }
    }
  }
  CHECK(devices > 0);
}
