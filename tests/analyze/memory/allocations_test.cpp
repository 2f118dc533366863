#include "core/analyze/memory/allocations.h"

#include <doctest/doctest.h>

#include <string>
#include <tuple>

#include "core/load/load_trace.h"
#include "tests/support/real_traces.h"

using namespace gapscope;

TEST_CASE("an allocation ends with the next record of its address on its device") {
  const auto record = [](int ts, int bytes, int address, int device, int type = 1) {
    return R"({"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": )" + std::to_string(ts) +
           R"(, "args": {"Device Type": )" + std::to_string(type) + R"(, "Device Id": )" + std::to_string(device) +
           R"(, "Bytes": )" + std::to_string(bytes) + R"(, "Addr": )" + std::to_string(address) + "}},\n";
  };
  const auto trace = load_trace_from_text(R"({"schemaVersion": 1, "traceEvents": [)" + record(10, 100, 7, 0) +
                                          record(20, -50, 9, 0) +  // in use before the recording
                                          record(30, 300, 7, 1) +  // the same address elsewhere
                                          record(40, -100, 7, 0) + record(50, 70, 7, 0) +
                                          record(60, 80, 7, 0) +  // asked for anew: the one before has ended
                                          R"({"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 0, "dur": 100}]})");
  REQUIRE(trace.ok());
  std::vector<std::tuple<Ns, Ns, std::int64_t>> found;
  for (const Allocation& a : allocations(**trace)) {
    const Span alive = a.alive(**trace);
    found.emplace_back(alive.begin / 1000, alive.end / 1000, a.bytes);
  }
  using One = std::tuple<Ns, Ns, std::int64_t>;
  CHECK(found == std::vector<One>{{10, 40, 100}, {0, 20, 50}, {30, 100, 300}, {50, 60, 70}, {60, 100, 80}});
}
