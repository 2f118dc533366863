#pragma once
// What a workload should compute, written a second time for the CPU: plain loops in double precision.
#include <vector>

#include "app/workload/dtype.h"

namespace gapscope::workload {

struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values;  // row after row

  double& at(std::int64_t row, std::int64_t column) { return values[static_cast<std::size_t>(row * columns + column)]; }
  double at(std::int64_t row, std::int64_t column) const { return values[static_cast<std::size_t>(row * columns + column)]; }
};

Matrix transposed(const Matrix& a);
Matrix product(const Matrix& a, const Matrix& b);  // a @ b
Matrix sum(const Matrix& a, const Matrix& b);
Matrix sum_with_row(const Matrix& a, const Matrix& row);  // row is added to each row of a
Matrix elementwise_product(const Matrix& a, const Matrix& b);
Matrix column_sums(const Matrix& a);  // one row
Matrix softmax_of_rows(const Matrix& a);
Matrix gelu(const Matrix& x);                                   // x * Phi(x), Phi the normal distribution
Matrix gelu_backward(const Matrix& gradient, const Matrix& x);  // gradient * (Phi(x) + x * phi(x))
Matrix sgd_step(const Matrix& parameter, const Matrix& gradient, double rate);
Matrix rows_of(const Matrix& a, std::int64_t first, std::int64_t count);

}  // namespace gapscope::workload
