#include "core/analyze/gpu/kernel_table.h"

#include <doctest/doctest.h>

#include <map>
#include <numeric>

#include "tests/support/hand_trace.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("a kernel's row counts, adds up and knows its operator and shape") {
  const auto doc = document_from_text(kOneLaunch);
  const KernelTable table = kernel_table(doc->trace, doc->links);
  REQUIRE(table.rows.size() == 4);
  CHECK(table.trace_has_gpu_work);
  CHECK(table.total == 8500);
  const KernelRow& copy = table.rows[0];
  CHECK(copy.decoded.kind == KernelKind::copy);
  CHECK(copy.share == doctest::Approx(4000.0 / 8500));
  CHECK(copy.registers.empty());
  const KernelRow& reduce = table.rows[1];
  CHECK(reduce.decoded.kind == KernelKind::reduction);
  CHECK(reduce.registers.min == 32);
  CHECK(reduce.shared_memory.max == 49664);
  CHECK(reduce.grid_blocks.max == 64);
  REQUIRE(reduce.operators.size() == 1);
  CHECK(reduce.operators[0].name == "aten::add");
}

TEST_CASE("a range keeps the work that begins in it") {
  const auto doc = document_from_text(kOneLaunch);
  CHECK(kernel_table(doc->trace, doc->links, Span{310'000, 312'000}).count == 1);
  const KernelTable none = kernel_table(doc->trace, doc->links, Span{0, 1});
  CHECK(none.rows.empty());
  CHECK(none.trace_has_gpu_work);
}

TEST_CASE("median and p95 lie between neighbours as numpy puts them; cv is that of the whole set") {
  std::string text = R"({"traceEvents": [)";
  for (int i = 1; i <= 4; ++i)
    text += R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": )" + std::to_string(100 * i) +
            R"(, "dur": )" + std::to_string(i) + R"(.000, "args": {"device": 0, "stream": 7}})" + (i < 4 ? "," : "]}");
  const auto doc = document_from_text(text);
  const KernelTable table = kernel_table(doc->trace, doc->links);
  REQUIRE(table.rows.size() == 1);
  const KernelRow& row = table.rows[0];
  CHECK(row.count == 4);
  CHECK(row.min == 1000);
  CHECK(row.median == 2500);
  CHECK(row.p95 == 3850);
  CHECK(row.max == 4000);
  CHECK(row.mean == 2500);
  CHECK(row.cv == doctest::Approx(0.4472136));
  CHECK(row.operators[0].name.empty());
}

TEST_CASE("a trace without GPU work has an empty table and no NaN") {
  const auto doc = document_from_text(
      R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]})");
  const KernelTable table = kernel_table(doc->trace, doc->links);
  CHECK(table.rows.empty());
  CHECK_FALSE(table.trace_has_gpu_work);
}

TEST_CASE("registers and shared memory that a recorder does not state are absent, not 0") {
  const auto doc = document_from_text(
      R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 0, "ts": 1, "dur": 2,
          "args": {"device": 1, "stream": 0, "correlation": 2, "grid": [64, 1, 1], "block": [256, 1, 1]}}]})");
  const KernelTable table = kernel_table(doc->trace, doc->links);
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].registers.empty());
  CHECK(table.rows[0].shared_memory.empty());
  CHECK(table.rows[0].grid_blocks.max == 64);
}

TEST_CASE("a histogram holds every duration once, zero included") {
  const std::vector<Ns> durations = {0, 1, 10, 100, 1000, 1000};
  const DurationHistogram h = duration_histogram(durations, 3);
  REQUIRE(h.counts.size() == 3);
  REQUIRE(h.edges.size() == 4);
  CHECK(std::accumulate(h.counts.begin(), h.counts.end(), std::uint64_t{0}) == 6);
  CHECK(h.counts.back() >= 2);
  CHECK(h.edges.front() == doctest::Approx(1));
  CHECK(h.edges.back() == doctest::Approx(1000));
  CHECK(duration_histogram({5, 5}).counts == std::vector<std::uint64_t>{2});
  CHECK(duration_histogram({}).counts.empty());
}

TEST_CASE("the tables of real recordings agree with a naive sum over slices") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.filename().string());
    const Trace& t = *load_once(path);
    std::map<std::string, std::pair<std::uint64_t, Ns>> naive;
    for (std::size_t i = 0; i < t.slice_count(); ++i) {
      if (!is_gpu_work(t.kind(SliceId(i)))) continue;
      auto& [count, total] = naive[std::string(t.name(SliceId(i)))];
      ++count;
      total += t.duration(SliceId(i));
    }
    const LaneIndex lanes(t);
    const LinkIndex links(t, lanes);
    const KernelTable table = kernel_table(t, links);
    CHECK(table.rows.size() == naive.size());
    double shares = 0;
    for (const KernelRow& row : table.rows) {
      const auto& [count, total] = naive.at(std::string(t.strings[row.name]));
      CHECK(row.count == count);
      CHECK(row.total == total);
      CHECK((row.min <= row.median && row.median <= row.p95 && row.p95 <= row.max));
      shares += row.share;
    }
    if (table.total > 0) CHECK(shares == doctest::Approx(1));
  }
}
