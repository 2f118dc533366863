#include "app/sampler/counters/sample_clock.h"

#include <doctest/doctest.h>

using namespace gapscope::sampler;

namespace {

constexpr Ns kBegin = 1'735'700'000'000'000'000, kSecond = 1'000'000'000;
constexpr std::int64_t kTicks = 8'000'000'000'000'000;  // of a machine that runs for a month

}  // namespace

TEST_CASE("a stamp by our clock stays as it is") {
  const SampleClock clock({kBegin, kTicks});
  CHECK(clock.ours_of(kBegin + 5, {kBegin + kSecond, kTicks + 3 * kSecond}) == kBegin + 5);
  CHECK(SampleClock({kBegin, 0}).ours_of(kBegin, {kBegin + kSecond, 0}) == kBegin);
}

TEST_CASE("a stamp of the processor's counter is brought onto our clock") {
  const SampleClock clock({kBegin, kTicks});
  const SampleClock::Moment now{kBegin + 10 * kSecond, kTicks + 27 * kSecond};  // 2.7 ticks a nanosecond
  CHECK(clock.ours_of(now.ticks, now) == now.ours);
  CHECK(clock.ours_of(now.ticks - 2'700'000, now) == now.ours - 1'000'000);
}

TEST_CASE("a stamp of neither clock is none, and nothing is made of a counter that stands still") {
  const SampleClock clock({kBegin, kTicks});
  CHECK_FALSE(clock.ours_of(12'345, {kBegin + kSecond, kTicks + 3 * kSecond}));
  CHECK_FALSE(clock.ours_of(INT64_MIN, {kBegin + kSecond, kTicks + 3 * kSecond}));
  CHECK_FALSE(clock.ours_of(kTicks, {kBegin + kSecond, kTicks}));
  CHECK_FALSE(SampleClock({kBegin, 0}).ours_of(0, {kBegin + kSecond, 0}));
}
