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

TEST_CASE("the one GPU of the records is the one GPU of the lanes, however PyTorch counts it") {
  const auto device_of = [](const std::string& lanes, int stated) {
    const auto trace = load_trace_from_text(
        R"({"schemaVersion": 1, "traceEvents": [{"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5, "args": )"
        R"({"Device Type": 1, "Device Id": )" +
        std::to_string(stated) + R"(, "Bytes": 8, "Addr": 7}}, )" + lanes + "]}");
    REQUIRE(trace.ok());
    return (*trace)->memory.front().device;
  };
  const auto kernel = [](const std::string& gpu) {
    return R"({"ph": "X", "cat": "kernel", "name": "k", "pid": )" + gpu +
           R"(, "tid": 7, "ts": 1, "dur": 9, "args": {"device": )" + gpu + R"(, "stream": 7}})";
  };
  CHECK(device_of(kernel("2"), 0) == 2);
  CHECK(device_of(kernel("2"), 2) == 2);
  CHECK(device_of(kernel("2") + ", " + kernel("3"), 0) == 0);  // which of the two it is, is unknown
}
