#include "app/workload/summary.h"

#include <doctest/doctest.h>

using namespace gapscope::workload;

TEST_CASE("a median is the middle one, or the mean of the two in the middle") {
  CHECK(median({}) == 0);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 100}) == 3);
}

TEST_CASE("a run ends with one line of what it did and how long a step took") {
  Options options;
  CHECK(summary_line(options, {0.010, 0.012, 0.5}, 1) ==
        "matmul-add, size 64, bf16, 3 steps of 12.0 us in the median, 1 result equal to the CPU's within rounding");
  options.id = CaseId::kMulAdd;
  options.variant = Variant::kFused;
  options.graph = true;
  options.size = 4096;
  options.dtype = Dtype::kTf32;
  CHECK(summary_line(options, {1}, 0) ==
        "mul-add (fused) (graph), size 4096, tf32, 1 step of 1000.0 us in the median, results not checked");
}
