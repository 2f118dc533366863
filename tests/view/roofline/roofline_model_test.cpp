#include "core/view/roofline/roofline_model.h"

#include <doctest/doctest.h>

#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("rows and slices lead to each other, and a module's rows are a part of all rows") {
  const auto doc = Document::make(load_once(recording("transformer_baseline")), nullptr);
  const auto all = answer(*doc, RooflineQuestion{}, nullptr);
  REQUIRE(all);
  REQUIRE_FALSE(all->rows.empty());
  Ns sum = 0;
  for (std::size_t row = 0; row < all->rows.size(); ++row) {
    sum += all->rows[row].work.kernel_ns;
    const auto calls = calls_of_row(doc->trace, *all, row);
    CHECK(calls.size() == all->rows[row].work.count);
    for (const SliceId call : calls) CHECK(row_of_slice(*all, call) == row);
    CHECK(dot_size(all->rows[row], all->rows) <= 1);
    CHECK_FALSE(row_text(all->rows[row]).empty());
  }
  for (const KernelOwner& kernel : all->table.kernels) CHECK(row_of_slice(*all, kernel.kernel).has_value());
  Ns of_modules = 0;
  for (const RooflineSum& module : all->modules) {
    Ns own = 0;
    const auto of_one = answer(*doc, RooflineQuestion{module.name}, nullptr);
    if (!module.name.empty())
      for (const RooflineRow& row : of_one->rows) own += row.work.kernel_ns;
    CHECK((module.name.empty() || own == module.kernel_ns));
    of_modules += module.kernel_ns;
  }
  CHECK(of_modules == sum);
}

TEST_CASE("the chart has the roofs of the types that are multiplied, and room for every dot") {
  const auto doc = Document::make(load_once(recording("transformer_baseline")), nullptr);
  const auto all = answer(*doc, RooflineQuestion{}, nullptr);
  const RooflineChart chart = row_chart(doc->trace, all->rows);
  CHECK(chart.bytes_per_second == 4.8e12);
  REQUIRE_FALSE(chart.roofs.empty());
  for (const RooflineRow& row : all->rows) {
    if (row.intensity().value_or(0) <= 0) continue;
    CHECK(chart.per_byte.share(*row.intensity()) >= 0);
    CHECK(chart.per_byte.share(*row.intensity()) <= 1);
    CHECK(chart.per_second.share(*row.per_second()) <= 1);
  }
}
