#include "app/workload/comparison.h"

#include <fmt/format.h>

#include <cmath>

namespace gapscope::workload {
namespace {

constexpr double kRoom = 4;

double error_of_a_store(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBf16: return 0x1p-8;   // 7 bits of mantissa
    case Dtype::kFp16: return 0x1p-11;  // 10 bits
    case Dtype::kTf32: return 0x1p-10;  // 10 bits, of both factors
    case Dtype::kFp32: return 0x1p-24;  // 23 bits
  }
  return 0;
}

double root_mean_square(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value * value;
  return values.empty() ? 0 : std::sqrt(total / static_cast<double>(values.size()));
}

}  // namespace

double tolerance(Dtype dtype, const Rounding& rounding) {
  return kRoom * rounding.stores * error_of_a_store(dtype) + static_cast<double>(rounding.terms) * 0x1p-24;
}

std::optional<std::string> mismatch(const Comparison& c, Dtype dtype) {
  if (c.got.values.size() != c.want.values.size())
    return fmt::format("{} has {} elements where the CPU finds {}.", c.what, c.got.values.size(), c.want.values.size());
  const double allowed = tolerance(dtype, c.rounding);
  const double scale = root_mean_square(c.want.values);
  double worst = 1;
  std::optional<std::size_t> worst_index;
  for (std::size_t i = 0; i < c.want.values.size(); ++i) {
    const double error = std::abs(c.got.values[i] - c.want.values[i]);
    if (error == 0) continue;
    const double excess = error / (allowed * (std::abs(c.want.values[i]) + scale));
    if (excess <= worst) continue;
    worst = excess;
    worst_index = i;
    if (std::isnan(excess)) break;
  }
  if (!worst_index) return std::nullopt;
  return fmt::format("{} is wrong: element {} is {:.6g} where the CPU finds {:.6g}, {:.1f} times the allowed error.", c.what,
                     *worst_index, c.got.values[*worst_index], c.want.values[*worst_index], worst);
}

}  // namespace gapscope::workload
