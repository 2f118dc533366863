#include "core/view/timeline/counter_columns.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/view/timeline/time_view.h"

using namespace gapscope;

namespace {

// Gives what it would give without being cached, and counts what it was asked for.
class Counted : public CounterSeries {
 public:
  void columns(const PixelGrid& grid, std::vector<CounterColumn>& out) const override {
    asked += static_cast<std::size_t>(grid.width());
    out.clear();
    for (int c = 0; c < grid.width(); ++c) {
      const auto begin = static_cast<double>(grid.begin_of(c));
      out.push_back({begin, begin + 1, true});
    }
  }
  mutable std::size_t asked = 0;
};

constexpr Span kTrace{1'000'000'000, 1'001'000'000};
constexpr int kWidth = 320;

std::vector<CounterColumn> kept(CounterColumns& columns, const Counted& series, const TimeView& view, int width = kWidth) {
  const auto all = columns.of(series, PixelGrid(view, width, kTrace.begin));
  return {all.begin(), all.end()};
}

std::vector<CounterColumn> anew(const TimeView& view, int width = kWidth) {
  CounterColumns columns;
  return kept(columns, Counted(), view, width);
}

}  // namespace

TEST_CASE("kept columns are those that would be worked out anew, whatever way the view takes") {
  std::mt19937 random(11);
  CounterColumns columns;
  const Counted series;
  TimeView view = zoomed(fit(kTrace), 0.1, 0.3, kTrace);
  for (int i = 0; i < 400; ++i) {
    const double part = static_cast<double>(random() % 1000) / 1000 - 0.5;
    switch (random() % 8) {
      case 0: view = zoomed(view, part < 0 ? 0.7 : 1.4, 0.5, kTrace); break;
      case 1: view = panned(view, part * 6, kTrace); break;
      case 2: break;
      default: view = panned(view, part * 0.1, kTrace);
    }
    CAPTURE(i);
    const int width = i % 50 < 40 ? kWidth : kWidth / 2;
    const auto before = kept(columns, series, view, width), now = anew(view, width);
    REQUIRE(before.size() == now.size());
    double farthest = 0;
    for (std::size_t c = 0; c < now.size(); ++c) farthest = std::max(farthest, std::abs(before[c].low - now[c].low));
    CHECK(farthest <= 1);  // ns: the edge of a column may fall to either side of it
  }
}

TEST_CASE("a pan asks only for the columns that come into sight") {
  CounterColumns columns;
  const Counted series;
  const TimeView begin = zoomed(fit(kTrace), 0.01, 0.5, kTrace);
  kept(columns, series, begin);
  CHECK(series.asked == kWidth);
  kept(columns, series, begin);
  CHECK(series.asked == kWidth);
  const TimeView later = panned(begin, 10.0 / kWidth, kTrace);
  kept(columns, series, later);
  CHECK(series.asked <= kWidth + 11);
  kept(columns, series, begin);
  CHECK(series.asked <= kWidth + 22);
  columns.clear();
  kept(columns, series, begin);
  CHECK(series.asked > kWidth + 22);
}
