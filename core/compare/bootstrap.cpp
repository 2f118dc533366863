#include "core/compare/bootstrap.h"

#include <algorithm>
#include <cmath>

namespace gapscope {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014).
class Draws {
 public:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // Below n, which is small against 2^64: the bias is less than n / 2^64.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_ = 20'250'101;
};

double median_of(std::vector<std::int64_t>& values) {
  const std::size_t n = values.size(), middle = n / 2;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(middle);
  std::nth_element(values.begin(), at, values.end());
  const auto high = static_cast<double>(*at);
  return n % 2 == 1 ? high : (high + static_cast<double>(*std::max_element(values.begin(), at))) / 2;
}

}  // namespace

std::vector<double> resampled_medians(const std::vector<std::int64_t>& values) {
  Draws draws;
  std::vector<std::int64_t> sample(values.size());
  std::vector<double> medians;
  medians.reserve(kResamples);
  for (std::size_t r = 0; r < kResamples && !values.empty(); ++r) {
    for (std::int64_t& value : sample) value = values[draws.below(values.size())];
    medians.push_back(median_of(sample));
  }
  std::sort(medians.begin(), medians.end());
  return medians;
}

std::optional<Interval> ratio_interval(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const auto is_positive = [](std::int64_t value) { return value > 0; };
  if (a.size() < 2 || b.size() < 2 || !std::all_of(a.begin(), a.end(), is_positive) ||
      !std::all_of(b.begin(), b.end(), is_positive))
    return std::nullopt;
  const std::vector<double> of_a = resampled_medians(a), of_b = resampled_medians(b);
  std::vector<double> ratios;
  ratios.reserve(of_a.size() * of_b.size());
  for (const double x : of_a)
    for (const double y : of_b) ratios.push_back(x / y);
  const auto out = static_cast<std::size_t>((1 - kConfidence) / 2 * static_cast<double>(ratios.size()));
  const auto low = ratios.begin() + static_cast<std::ptrdiff_t>(out);
  const auto high = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() - 1 - out);
  std::nth_element(ratios.begin(), low, ratios.end());
  const double lowest = *low;
  std::nth_element(ratios.begin(), high, ratios.end());
  return Interval{lowest, *high};
}

}  // namespace gapscope
