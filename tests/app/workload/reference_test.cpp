#include "app/workload/reference.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

using namespace gapscope::workload;

namespace {

const Matrix kA{2, 3, {1, 2, 3, 4, 5, 6}};
const Matrix kB{3, 2, {7, 8, 9, 10, 11, 12}};

}  // namespace

TEST_CASE("a product is rows times columns") {
  const Matrix c = product(kA, kB);
  CHECK(c.rows == 2);
  CHECK(c.columns == 2);
  CHECK(c.values == std::vector<double>{58, 64, 139, 154});
}

TEST_CASE("the transposed product is the product of the transposed in the other order") {
  CHECK(transposed(kA).values == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(transposed(product(kA, kB)).values == product(transposed(kB), transposed(kA)).values);
}

TEST_CASE("sums and products go element by element, a row is added to all rows") {
  CHECK(sum(kA, kA).values == std::vector<double>{2, 4, 6, 8, 10, 12});
  CHECK(elementwise_product(kA, kA).values == std::vector<double>{1, 4, 9, 16, 25, 36});
  CHECK(sum_with_row(kA, {1, 3, {10, 20, 30}}).values == std::vector<double>{11, 22, 33, 14, 25, 36});
  CHECK(column_sums(kA).values == std::vector<double>{5, 7, 9});
  CHECK(rows_of(kB, 1, 2).values == std::vector<double>{9, 10, 11, 12});
}

TEST_CASE("a softmax adds up to one in each row, keeps ratios, and survives large numbers") {
  const Matrix out = softmax_of_rows({2, 2, {0, std::log(3.0), 1000, 1000}});
  CHECK(out.at(0, 0) == doctest::Approx(0.25));
  CHECK(out.at(0, 1) == doctest::Approx(0.75));
  CHECK(out.at(1, 0) == doctest::Approx(0.5));
  CHECK(out.at(1, 1) == doctest::Approx(0.5));
}

TEST_CASE("gelu is the identity far above zero, zero far below, and known in between") {
  const Matrix out = gelu({1, 4, {-20, 0, 1, 20}});
  CHECK(out.at(0, 0) == doctest::Approx(0));
  CHECK(out.at(0, 1) == 0);
  CHECK(out.at(0, 2) == doctest::Approx(0.8413447461));  // Phi(1)
  CHECK(out.at(0, 3) == doctest::Approx(20));
}

TEST_CASE("gelu's backward pass is its slope times the gradient") {
  constexpr double kStep = 1e-5;
  for (const double x : {-2.0, -0.5, 0.0, 0.7, 3.0}) {
    const double slope = (gelu({1, 1, {x + kStep}}).at(0, 0) - gelu({1, 1, {x - kStep}}).at(0, 0)) / (2 * kStep);
    CHECK(gelu_backward({1, 1, {3}}, {1, 1, {x}}).at(0, 0) == doctest::Approx(3 * slope).epsilon(1e-6));
  }
}

TEST_CASE("an SGD step goes against the gradient") {
  CHECK(sgd_step({1, 2, {1, 2}}, {1, 2, {10, -10}}, 0.1).values == std::vector<double>{0, 3});
}
