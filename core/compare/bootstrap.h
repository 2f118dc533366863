#pragma once
// How sure the ratio of two medians is: a percentile bootstrap (Efron 1979). Each side's values are drawn again with
// replacement kResamples times and their median taken; the interval holds the middle 95 % of the ratios of all pairs of these
// medians. The draws are the same each time and for both sides, so that b against a is the mirror of a against b.
#include <cstdint>
#include <optional>
#include <vector>

namespace gapscope {

constexpr std::size_t kResamples = 400;
constexpr double kConfidence = 0.95;
constexpr std::size_t kEnoughSteps = 6;  // fewer values know too little of their spread (heuristic)

struct Interval {
  double low = 0, high = 0;
  bool holds(double value) const { return low <= value && value <= high; }
};

// Of median(a) / median(b). Nothing where a side has fewer than two values, or one that is not above 0.
std::optional<Interval> ratio_interval(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b);

// Medians of kResamples samples as large as `values`, ascending. The middle two of an even number are averaged.
std::vector<double> resampled_medians(const std::vector<std::int64_t>& values);

}  // namespace gapscope
