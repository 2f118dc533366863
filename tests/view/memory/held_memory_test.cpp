#include "core/view/memory/held_memory.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/table/output.h"
#include "core/view/document.h"
#include "core/view/table/table_look.h"
#include "tests/support/diagnosed.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using test::document_from_text;

namespace {

std::string record(int ts, int bytes, int address, const std::string& more) {
  return R"({"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": )" + std::to_string(ts) +
         R"(, "args": {"Device Type": 1, "Device Id": 0, "Bytes": )" + std::to_string(bytes) + R"(, "Addr": )" +
         std::to_string(address) + more + "}},\n";
}

// Of 2000 bytes at the peak, at 40, 900 were there before; 300 are freed by then, and 70 come later.
std::string some_held(const char* totals = R"(, "Total Allocated": )") {
  const std::string at = totals;
  const auto total = [&](int bytes) { return at.empty() ? std::string() : at + std::to_string(bytes); };
  return R"({"schemaVersion": 1, "traceEvents": [)" + record(10, 300, 1, total(1200)) + record(20, 500, 2, total(1700)) +
         record(22, 100, 3, total(1800)) + record(30, -300, 1, total(1500)) + record(40, 500, 4, total(2000)) +
         record(60, -500, 2, total(1500)) + record(70, 70, 5, total(1570)) +
         R"({"ph": "X", "cat": "python_function", "name": "/src/train.py(5): step", "pid": 1, "tid": 1, "ts": 0, "dur": 100, "args": {"Python id": 1}},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_3", "pid": 1, "tid": 1, "ts": 12, "dur": 16, "args": {"Python id": 2}},
{"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1, "ts": 15, "dur": 10, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1, "ts": 35, "dur": 10, "args": {"External id": 2}}]})";
}

HeldMemory held_at_peak(const Document& document) {
  document.analyze();
  const MemoryDevice& device = document.analysis()->memory().devices.at(0);
  return *answer(document, HeldQuestion{device.device_type, device.device, device.peak}, nullptr);
}

}  // namespace

TEST_CASE("what holds the peak is listed by operator, module and line, the largest first") {
  const auto document = document_from_text(some_held());
  const HeldMemory held = held_at_peak(*document);
  REQUIRE(held.states_addresses);
  const HeldRows table = held_rows(document->trace, held);
  CHECK(csv_of(table, arrange(table, TableLook{})) ==
        "operator,module,line,allocations,held_bytes\n"
        "from before the recording,,,,900\n"
        "aten::empty,Linear_3,/src/train.py:5,2,600\n"
        "aten::empty,,/src/train.py:5,1,500\n");
  REQUIRE(held.rows[1].allocations.size() == 2);
  CHECK(held.rows[1].allocations[0].bytes + held.rows[1].allocations[1].bytes == 600);
  REQUIRE(held.rows[1].slices.size() == 1);
  CHECK(document->trace.begin(held.rows[1].slices[0]) == 15'000);
}

TEST_CASE("where no totals are stated nothing is said of what was there before") {
  const auto document = document_from_text(some_held(""));
  const HeldMemory held = held_at_peak(*document);
  REQUIRE(held.rows.size() == 2);
  CHECK(held.rows[0].bytes == 600);
  CHECK(held.rows[1].bytes == 500);
}

TEST_CASE("without addresses who holds the memory is not known") {
  const auto document = document_from_text(R"({"schemaVersion": 1, "traceEvents": [)" + record(10, 300, 0, "") +
                                           R"({"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 0, "dur": 100}]})");
  CHECK_FALSE(held_at_peak(*document).states_addresses);
}

TEST_CASE("on real recordings what holds the peak adds up to it") {
  std::size_t devices = 0;
  for (const auto& path : test::real_traces()) {
    if (test::load_once(path)->memory.empty()) continue;
    CAPTURE(path.string());
    const Document& document = test::diagnosed_once(path).document;
    const Trace& trace = document.trace;
    for (const MemoryDevice& device : document.analysis()->memory().devices) {
      const HeldMemory held = *answer(document, HeldQuestion{device.device_type, device.device, device.peak}, nullptr);
      if (!held.states_addresses) continue;
      ++devices;
      // The bytes at each address up to the peak, by a walk of its own.
      std::map<std::uint64_t, std::int64_t> in_use;
      std::size_t point = 0;
      for (const MemoryRow& row : trace.memory) {
        if (row.device_type != device.device_type || row.device != device.device || row.out_of_memory) continue;
        if (row.bytes > 0) in_use[row.address] = row.bytes;
        if (row.bytes < 0) in_use.erase(row.address);
        if (point++ == device.peak) break;
      }
      std::int64_t known = 0, listed = 0, all = 0;
      for (const auto& [address, bytes] : in_use) known += bytes;
      for (const HeldRow& row : held.rows) {
        all += row.bytes;
        if (row.of == HeldRow::Of::allocations) listed += row.bytes;
      }
      CHECK(listed == known);
      if (device.states_totals) CHECK(all == device.points[device.peak].allocated);
    }
  }
  CHECK(devices > 0);
}
