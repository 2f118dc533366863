// What DRAM moved for the calls of a row, by counters that are known by hand.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "core/analyze/work/roofline_rows.h"
#include "core/base/table/output.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// aten::mul of so many elements and its kernel of one name; times in microseconds.
std::string call_text(int number, int elements, int begin, int duration, int stream = 7) {
  const int at = 100 + 10 * number;
  return fmt::format(
      R"(,
{{"ph":"X","cat":"cpu_op","name":"aten::mul","pid":9,"tid":1,"ts":{},"dur":8,"args":{{"Input Dims":[[{}],[{}]],"Input type":["float","float"]}}}},
{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":{},"dur":1,"args":{{"correlation":{}}}}},
{{"ph":"X","cat":"kernel","name":"mul","pid":0,"tid":{},"ts":{},"dur":{},"args":{{"device":0,"stream":{},"correlation":{}}}}})",
      at, elements, elements, at + 1, number, stream, begin, duration, stream, number);
}

std::string counter_text(int us, const char* name, const std::string& args) {
  return fmt::format(",\n{{\"ph\":\"C\",\"name\":\"{}\",\"pid\":0,\"ts\":{},\"args\":{{{}}}}}", name, us, args);
}

std::string dram_text(int us, int read, int write) {
  return counter_text(us, "DRAM", fmt::format("\"read GB/s\":{},\"write GB/s\":{}", read, write));
}

std::string trace_text(const std::string& inside, bool with_counters = true) {
  std::string text = R"({"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"GPU 0"}})" + inside;
  if (with_counters)
    text += counter_text(900, "Counter sampling", "\"interval us\":20") +
            counter_text(3000, "Counter sampling", "\"interval us\":0");
  return events(text);
}

struct Measured {
  explicit Measured(const std::string& text)
      : trace(load_text(text)),
        lanes(*trace),
        links(*trace, lanes),
        table(work_table(*trace, lanes, links, {})),
        rows(roofline_rows(*trace, table)) {
    measure_bytes(*trace, links, table, rows);
  }
  std::optional<double> of(double elements) const {
    for (const RooflineRow& row : rows)
      if (row.work.each.flops == elements) return row.measured;
    FAIL("no such row");
    return {};
  }
  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  WorkTable table;
  std::vector<RooflineRow> rows;
};

}  // namespace

TEST_CASE("a row's calls are measured together, apart from other sizes of the same kernel") {
  // Two calls of 8 elements take 200 us each at 2000 GB/s, one of 4, right behind them, takes 100 us at 500.
  const Measured measured(trace_text(call_text(1, 8, 1000, 200) + call_text(2, 8, 1200, 200) + call_text(3, 4, 1400, 100) +
                                     dram_text(900, 0, 0) + dram_text(1000, 1500, 500) + dram_text(1400, 400, 100) +
                                     dram_text(1500, 0, 0)));
  CHECK(measured.of(8) == doctest::Approx(2000.0 * 200'000));
  CHECK(measured.of(4) == doctest::Approx(500.0 * 100'000));
  const RooflineTable table = roofline_table(*measured.trace, measured.rows);
  const std::string text = text_of(table, first_rows(table, 10));
  CHECK(text.find("measured") != std::string::npos);
  CHECK(csv_of(table, first_rows(table, 10)).find("bytes_measured") != std::string::npos);
}

TEST_CASE("what is shorter than two samples or concurrent with other work is not measured") {
  const std::string busy = dram_text(900, 1500, 500);
  CHECK_FALSE(Measured(trace_text(call_text(1, 8, 1000, 30) + call_text(2, 4, 1200, 200) + busy)).of(8));
  CHECK_FALSE(Measured(trace_text(call_text(1, 8, 1000, 300) + call_text(2, 4, 1100, 100, 8) + busy)).of(8));
  // Five short ones in a row are 150 us together.
  std::string five;
  for (int i = 0; i < 5; ++i) five += call_text(1 + i, 8, 1000 + 30 * i, 30);
  CHECK(Measured(trace_text(five + busy)).of(8) == doctest::Approx(2000.0 * 30'000));
}

TEST_CASE("without counters the column is not on the screen, and empty elsewhere") {
  const Measured measured(trace_text(call_text(1, 8, 1000, 200), false));
  CHECK_FALSE(measured.of(8));
  const RooflineTable table = roofline_table(*measured.trace, measured.rows);
  CHECK(text_of(table, first_rows(table, 10)).find("measured") == std::string::npos);
  CHECK(csv_of(table, first_rows(table, 10)).find("bytes_measured") != std::string::npos);
}
