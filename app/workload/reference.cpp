#include "app/workload/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gapscope::workload {
namespace {

Matrix zeros(std::int64_t rows, std::int64_t columns) {
  return {rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
}

template <class Function>
Matrix joined(const Matrix& a, const Matrix& b, Function function) {
  Matrix out = a;
  for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] = function(a.values[i], b.values[i]);
  return out;
}

double normal_distribution(double x) { return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

}  // namespace

Matrix transposed(const Matrix& a) {
  Matrix out = zeros(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) out.at(j, i) = a.at(i, j);
  return out;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out = zeros(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k)  // k outside: the inner loop runs along rows
      for (std::int64_t j = 0; j < b.columns; ++j) out.at(i, j) += a.at(i, k) * b.at(k, j);
  return out;
}

Matrix sum(const Matrix& a, const Matrix& b) {
  return joined(a, b, [](double x, double y) { return x + y; });
}

Matrix sum_with_row(const Matrix& a, const Matrix& row) {
  Matrix out = a;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) out.at(i, j) += row.at(0, j);
  return out;
}

Matrix elementwise_product(const Matrix& a, const Matrix& b) {
  return joined(a, b, [](double x, double y) { return x * y; });
}

Matrix column_sums(const Matrix& a) {
  Matrix out = zeros(1, a.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) out.at(0, j) += a.at(i, j);
  return out;
}

Matrix softmax_of_rows(const Matrix& a) {
  Matrix out = a;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double largest = a.at(i, 0);
    for (std::int64_t j = 1; j < a.columns; ++j) largest = std::max(largest, a.at(i, j));
    double total = 0;
    for (std::int64_t j = 0; j < a.columns; ++j) total += out.at(i, j) = std::exp(a.at(i, j) - largest);
    for (std::int64_t j = 0; j < a.columns; ++j) out.at(i, j) /= total;
  }
  return out;
}

Matrix gelu(const Matrix& x) {
  return joined(x, x, [](double value, double) { return value * normal_distribution(value); });
}

Matrix gelu_backward(const Matrix& gradient, const Matrix& x) {
  return joined(gradient, x, [](double g, double v) { return g * (normal_distribution(v) + v * normal_density(v)); });
}

Matrix sgd_step(const Matrix& parameter, const Matrix& gradient, double rate) {
  return joined(parameter, gradient, [rate](double p, double g) { return p - rate * g; });
}

Matrix rows_of(const Matrix& a, std::int64_t first, std::int64_t count) {
  const auto begin = a.values.begin() + first * a.columns;
  return {count, a.columns, std::vector<double>(begin, begin + count * a.columns)};
}

}  // namespace gapscope::workload
