// Like with like: what says that two recordings do other work, and that nothing is called slower then.
#include <algorithm>
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/compare/comparison.h"
#include "core/compare/use_table.h"
#include "core/session/trace_session.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Loaded {
  explicit Loaded(std::shared_ptr<const Trace> t) : trace(std::move(t)), session(trace) {}
  ComparedTrace compared() const { return {session}; }
  RunOverview overview() const { return make_overview(session); }
  std::shared_ptr<const Trace> trace;
  TraceSession session;
};

Loaded recorded(const std::string& name) { return Loaded(load_once(recording(name))); }

// Three steps with one operator each, and its kernel.
std::string steps(const std::string& op, const std::string& dims, const std::string& kernel, int gpu_us, int grid = 1) {
  std::string out;
  for (int s = 0; s < 3; ++s) {
    const int at = 1000 * s;
    const std::string link =
        fmt::format("\"correlation\": {}, \"External id\": {}, \"device\": 0, \"stream\": 7", s + 1, s + 1);
    out +=
        (s > 0 ? "," : "") + slice(fmt::format("ProfilerStep#{}", s), std::to_string(at), "900", "", "user_annotation") + ",";
    out += slice(op, std::to_string(at + 10), "50",
                 fmt::format(", \"args\": {{\"External id\": {}{}}}", s + 1, dims.empty() ? "" : ", \"Input Dims\": " + dims)) +
           ",";
    out += slice("cudaLaunchKernel", std::to_string(at + 20), "5", ", \"args\": {" + link + "}", "cuda_runtime") + ",";
    out += slice(kernel, std::to_string(at + 40), std::to_string(gpu_us),
                 fmt::format(", \"args\": {{{}, \"grid\": [{}, 1, 1], \"block\": [128, 1, 1]}}", link, grid), "kernel", "7");
  }
  return events(out);
}

Comparison compared(const std::string& a, const std::string& b) {
  const Loaded x(load_text(a)), y(load_text(b));
  auto result = compare(x.compared(), y.compared());
  REQUIRE(result.ok());
  return *result;
}

bool says(const Comparison& c, const std::string& word) {
  bool found = c.verdict.find(word) != std::string::npos;
  for (const ComparisonFinding& f : c.findings) found = found || f.summary.find(word) != std::string::npos;
  for (std::size_t f = 0; f < kStepFigures; ++f)
    found = found || change_text(c.changes[f], c.a.figures[f], c.b.figures[f]).find(word) != std::string::npos;
  return found;
}

constexpr const char* kGemm = "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTN";

}  // namespace

TEST_CASE("twice the operations in twice the time is no slowdown") {
  const Comparison c =
      compared(steps("aten::mm", "[[64, 64], [64, 64]]", kGemm, 100), steps("aten::mm", "[[128, 64], [64, 64]]", kGemm, 200));
  CHECK(c.like.work == SameWork::other);
  CHECK(*c.like.a.operations == 2.0 * 64 * 64 * 64);
  CHECK(*c.like.b.operations == 2 * *c.like.a.operations);
  CHECK(*c.like.a.rows == 64);
  CHECK(*c.like.b.rows == 128);
  REQUIRE(c.like.per_unit.size() == 2);
  CHECK(c.like.per_unit[0].unit == "operation");
  CHECK(c.like.per_unit[0].ns_a == doctest::Approx(c.like.per_unit[0].ns_b));
  CHECK(!says(c, "slower"));
  CHECK(says(c, "longer"));
  CHECK(c.verdict.starts_with("The two do not do equal work. A step of B has 2.00x the operations"));
}

TEST_CASE("equal work may be slower") {
  const Comparison c =
      compared(steps("aten::mm", "[[64, 64], [64, 64]]", kGemm, 100), steps("aten::mm", "[[64, 64], [64, 64]]", kGemm, 200));
  CHECK(c.like.work == SameWork::equal);
  CHECK(c.like.differences.empty());
  CHECK(c.like.per_unit.empty());
  CHECK(says(c, "slower"));
}

TEST_CASE("elementwise work is known by its elements, and by its grids where no shapes are recorded") {
  const std::string small = steps("aten::add", "[[1000], [1000]]", "add_kernel", 100),
                    large = steps("aten::add", "[[4000], [4000]]", "add_kernel", 100);
  const Comparison c = compared(small, large);
  CHECK(c.like.work == SameWork::other);
  REQUIRE(c.like.per_unit.size() == 1);
  CHECK(c.like.per_unit[0].unit == "element");
  CHECK(c.verdict.find(": 4.00x shorter. ") != std::string::npos);
  CHECK(compared(small, small).like.work == SameWork::equal);

  const Comparison grids = compared(steps("aten::add", "", "add_kernel", 100, 1), steps("aten::add", "", "add_kernel", 200, 2));
  CHECK(grids.like.work == SameWork::other);
  CHECK(grids.like.per_unit.empty());
  CHECK(!says(grids, "slower"));
  const Comparison unknown = compared(steps("aten::add", "", "add_kernel", 100), steps("aten::add", "", "add_kernel", 200));
  CHECK(unknown.like.work == SameWork::unknown);
  CHECK(says(unknown, "slower"));
  CHECK(std::any_of(unknown.notes.begin(), unknown.notes.end(),
                    [](const std::string& n) { return n.find("record_shapes=True") != n.npos; }));
}

TEST_CASE("the optimized transformer does other work, and none of it is called slower") {
  const Loaded a = recorded("transformer_baseline"), b = recorded("transformer_optimized");
  const auto c = compare(a.compared(), b.compared());
  REQUIRE(c.ok());
  CHECK(c->like.work == SameWork::other);
  REQUIRE(!c->like.per_unit.empty());
  const PerUnit& operations = c->like.per_unit[0];
  CHECK(operations.b / operations.a > 16);  // attention grows with the square of the sequence
  const auto rows =
      std::find_if(c->like.per_unit.begin(), c->like.per_unit.end(), [](const PerUnit& u) { return u.unit == "row"; });
  REQUIRE(rows != c->like.per_unit.end());
  CHECK(rows->b / rows->a == doctest::Approx(16));
  CHECK(c->like.per_unit[0].ns_b < c->like.per_unit[0].ns_a);
  CHECK(!says(*c, "slower"));
  CHECK(!says(*c, "faster"));
  const std::vector<UseRow> use = use_table(a.overview(), b.overview());
  double sum_a = 0, idle_a = 0, all_idle_a = 0;
  for (const UseRow& row : use) {
    if (row.key.starts_with("account.idle."))
      idle_a += row.a.value_or(0);
    else if (row.key.starts_with("account."))
      sum_a += row.a.value_or(0);
    if (row.key == "account.idle") all_idle_a = row.a.value_or(0);
  }
  CHECK(sum_a == doctest::Approx(1));
  CHECK(idle_a == doctest::Approx(all_idle_a));
}

TEST_CASE("an occupancy that counts kernels as 0 for want of a value is not compared") {
  const auto has_occupancy = [](const char* a, const char* b) {
    const std::vector<UseRow> use = use_table(recorded(a).overview(), recorded(b).overview());
    return std::any_of(use.begin(), use.end(), [](const UseRow& row) { return row.key == "occupancy"; });
  };
  CHECK_FALSE(has_occupancy("matmul_add_4096_warm_eager", "matmul_add_4096_warm_compile"));
  CHECK(has_occupancy("muladd_eager", "muladd_eager"));
}

TEST_CASE("a recording against itself does equal work or says why that is not known, whatever it is") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Loaded side(load_once(path));
    const auto c = compare(side.compared(), side.compared());
    REQUIRE(c.ok());
    CHECK(c->like.work != SameWork::other);
    CHECK(c->like.differences.empty());
    for (const FigureChange& change : c->changes) {
      CHECK(!change.differs);
      if (change.interval) CHECK(change.interval->holds(1));
    }
  }
}
