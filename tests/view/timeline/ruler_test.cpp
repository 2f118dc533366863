#include "core/view/timeline/ruler.h"

#include <doctest/doctest.h>

using namespace gapscope;

namespace {

using Labels = std::vector<std::string>;

Labels labels(const Ruler& ruler) {
  Labels result;
  for (const Tick& tick : ruler.ticks) {
    if (tick.major) result.push_back(tick.label);
  }
  return result;
}

}  // namespace

TEST_CASE("ticks count from the start of the trace in one unit") {
  const Ruler ruler = make_ruler({1'000'000, 1'010'000}, 500, 100, 1'000'000);
  CHECK(ruler.step == 2'000);
  CHECK(labels(ruler) == Labels{"0 µs", "2 µs", "4 µs", "6 µs", "8 µs", "10 µs"});
  CHECK(ruler.offset.empty());
}

TEST_CASE("labels have the decimals that their step needs") {
  const Ruler ruler = make_ruler({0, 3'000}, 1000, 100, 0);
  CHECK(ruler.step == 500);
  CHECK(labels(ruler) == Labels{"0.0 µs", "0.5 µs", "1.0 µs", "1.5 µs", "2.0 µs", "2.5 µs", "3.0 µs"});
}

TEST_CASE("far from the start the common part moves into one offset label") {
  const Ns start = 5 * kNsPerS + 123'456'789;
  const Ruler ruler = make_ruler({start, start + 400}, 1000, 100, 0);
  CHECK(ruler.offset == "+5.123456 s");
  for (const std::string& label : labels(ruler)) CHECK(label.size() <= 8);
}

TEST_CASE("ticks begin at or before the visible time, also before the start") {
  for (Ns begin = -530; begin < 100; begin += 7)
    CHECK(make_ruler({begin, begin + 1'000}, 600, 100, 0).ticks.front().time <= begin);
}

TEST_CASE("times before the start are negative") { CHECK(labels(make_ruler({-200, 1'000}, 600, 100, 0)).front() == "-200 ns"); }

TEST_CASE("steps are 1, 2 or 5 times a power of ten, never closer than asked, at every zoom") {
  for (Ns length = 100; length < 1'000 * kNsPerS; length = length * 13 / 10 + 1) {
    const Ruler ruler = make_ruler({77, 77 + length}, 1300, 110, 0);
    Ns digit = ruler.step;
    while (digit % 10 == 0) digit /= 10;
    CHECK((digit == 1 || digit == 2 || digit == 5));
    CHECK(static_cast<double>(ruler.step) * 1300 / static_cast<double>(length) >= 109.9);
    CHECK(ruler.ticks.size() <= 100);
    for (std::size_t i = 1; i < ruler.ticks.size(); ++i) CHECK(ruler.ticks[i].time > ruler.ticks[i - 1].time);
  }
}

TEST_CASE("no two neighbouring ticks have the same label") {
  for (Ns length = 100; length < 100 * kNsPerS; length *= 7) {
    const Labels all = labels(make_ruler({12'345'678'901, 12'345'678'901 + length}, 1300, 110, 0));
    for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i] != all[i - 1]);
  }
}

TEST_CASE("a time is reported with every nanosecond in a readable unit") {
  CHECK(exact_time_text(150'690'428) == "150.690428 ms");
  CHECK(exact_time_text(812) == "812 ns");
  CHECK(exact_time_text(1'999) == "1999 ns");
  CHECK(exact_time_text(-2'500) == "-2.500 µs");
  CHECK(exact_time_text(0) == "0 ns");
}

TEST_CASE("an empty axis has no ticks") {
  CHECK(make_ruler({5, 5}, 100, 100, 0).ticks.empty());
  CHECK(make_ruler({0, 100}, 0, 100, 0).ticks.empty());
}
