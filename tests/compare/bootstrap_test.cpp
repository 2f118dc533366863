// The interval of a ratio: against all samples that there are, its mirror, and what it says of steps that do not differ.
#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "core/compare/bootstrap.h"

using namespace gapscope;

namespace {

double median(std::vector<std::int64_t> v) {
  std::sort(v.begin(), v.end());
  return (static_cast<double>(v[(v.size() - 1) / 2]) + static_cast<double>(v[v.size() / 2])) / 2;
}

// Medians of every sample with replacement: n^n of them.
std::vector<double> all_medians(const std::vector<std::int64_t>& values) {
  std::vector<double> out;
  std::vector<std::size_t> pick(values.size(), 0);
  for (;;) {
    std::vector<std::int64_t> sample;
    for (const std::size_t p : pick) sample.push_back(values[p]);
    out.push_back(median(sample));
    std::size_t at = 0;
    while (at < pick.size() && ++pick[at] == values.size()) pick[at++] = 0;
    if (at == pick.size()) return out;
  }
}

double share_at_most(const std::vector<double>& values, double limit) {
  const auto n = std::count_if(values.begin(), values.end(), [&](double v) { return v <= limit; });
  return static_cast<double>(n) / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("resampled medians are spread as those of all samples that there are") {
  const std::vector<std::int64_t> values = {100, 103, 110, 90, 97};
  const std::vector<double> mine = resampled_medians(values), all = all_medians(values);
  CHECK(mine.size() == kResamples);
  for (const double limit : {90.0, 97.0, 100.0, 103.0})
    CHECK(std::abs(share_at_most(mine, limit) - share_at_most(all, limit)) < 0.08);
  CHECK(std::is_sorted(mine.begin(), mine.end()));
}

TEST_CASE("the interval holds the middle of the ratios of all pairs, and b against a is its mirror") {
  const std::vector<std::int64_t> a = {1000, 1040, 1010, 1100, 990}, b = {800, 805, 799, 830};
  const auto there = ratio_interval(a, b), back = ratio_interval(b, a);
  REQUIRE((there && back));
  CHECK(there->low == doctest::Approx(1 / back->high));
  CHECK(there->high == doctest::Approx(1 / back->low));
  CHECK(there->holds(median(a) / median(b)));
  CHECK(!there->holds(1));
  std::vector<double> ratios;
  for (const double x : all_medians(a))
    for (const double y : all_medians(b)) ratios.push_back(x / y);
  CHECK(share_at_most(ratios, there->low) < 0.06);
  CHECK(share_at_most(ratios, there->high) > 0.94);
}

TEST_CASE("steps of one kind show no difference, and few or odd ones no interval") {
  std::mt19937 random(3);
  int wrong = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<std::int64_t> a, b;
    for (int i = 0; i < 8; ++i) a.push_back(1'000'000 + static_cast<std::int64_t>(random() % 100'000));
    for (int i = 0; i < 8; ++i) b.push_back(1'000'000 + static_cast<std::int64_t>(random() % 100'000));
    wrong += ratio_interval(a, b)->holds(1) ? 0 : 1;
  }
  CHECK(wrong <= 6);  // about one in twenty
  CHECK(!ratio_interval({1}, {1, 2}).has_value());
  CHECK(!ratio_interval({}, {}).has_value());
  CHECK(!ratio_interval({0, 1}, {1, 2}).has_value());
  CHECK(ratio_interval({5, 5}, {5, 5})->holds(1));
}
