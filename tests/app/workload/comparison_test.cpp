#include "app/workload/comparison.h"

#include <doctest/doctest.h>

#include <limits>

using namespace gapscope::workload;

namespace {

// One row of ones, but for its last element.
Comparison of_ones(double last_got) {
  const Matrix want{1, 4, {1, 1, 1, 1}};
  Matrix got = want;
  got.at(0, 3) = last_got;
  return {"the sum", got, want, {1, 64}};
}

}  // namespace

TEST_CASE("a coarser type may err more, and so may more stores and longer sums") {
  CHECK(tolerance(Dtype::kBf16, {1, 64}) > tolerance(Dtype::kFp16, {1, 64}));
  CHECK(tolerance(Dtype::kTf32, {1, 64}) > tolerance(Dtype::kFp32, {1, 64}));
  CHECK(tolerance(Dtype::kBf16, {2, 64}) > tolerance(Dtype::kBf16, {1, 64}));
  CHECK(tolerance(Dtype::kFp32, {1, 128}) > tolerance(Dtype::kFp32, {1, 64}));
  CHECK(tolerance(Dtype::kBf16, {2, 64}) < 0.05);  // or a wrong result could pass
}

TEST_CASE("what one rounding does is accepted, what is a few times that is not") {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16, Dtype::kFp32, Dtype::kTf32}) {
    const double allowed = tolerance(dtype, {1, 64}) * 2;  // |want| and the root mean square are both 1
    CHECK_FALSE(mismatch(of_ones(1 + 0.99 * allowed), dtype));
    CHECK_FALSE(mismatch(of_ones(1 - 0.99 * allowed), dtype));
    CHECK(mismatch(of_ones(1 + 1.01 * allowed), dtype));
    CHECK(mismatch(of_ones(1 - 1.01 * allowed), dtype));
  }
}

TEST_CASE("a mismatch names the worst element") {
  Comparison comparison = of_ones(3);
  comparison.got.at(0, 1) = 2;
  const auto sentence = mismatch(comparison, Dtype::kBf16);
  REQUIRE(sentence);
  CHECK(sentence->starts_with("the sum is wrong: element 3 is 3 where the CPU finds 1,"));
}

TEST_CASE("NaN, infinity and a wrong size never pass") {
  CHECK(mismatch(of_ones(std::numeric_limits<double>::quiet_NaN()), Dtype::kBf16));
  CHECK(mismatch(of_ones(std::numeric_limits<double>::infinity()), Dtype::kBf16));
  Comparison early = of_ones(100);
  early.got.at(0, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(mismatch(early, Dtype::kBf16)->starts_with("the sum is wrong: element 1 is nan"));
  Comparison shorter = of_ones(1);
  shorter.got.values.pop_back();
  CHECK(mismatch(shorter, Dtype::kBf16) == "the sum has 3 elements where the CPU finds 4.");
}

TEST_CASE("results that should be zero must be zero") {
  const Matrix zeros{1, 2, {0, 0}};
  CHECK_FALSE(mismatch({"zero", zeros, zeros, {}}, Dtype::kBf16));
  CHECK(mismatch({"zero", {1, 2, {0, 1e-30}}, zeros, {}}, Dtype::kBf16));
}
