// Files whose slices lie thousands deep cost HostTime no more than n log n steps. What it says is held against a naive one in
// time_account_test.cpp.
#include <random>

#include <doctest/doctest.h>

#include "core/analyze/account/host_time.h"
#include "core/base/counted_steps.h"
#include "tests/support/hand_trace.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// n operators a while apart, then n more that overlap, each in a row of its own.
std::shared_ptr<Trace> apart_and_overlapping(Ns n) {
  std::vector<std::vector<HandSlice>> rows(1);
  for (Ns i = 0; i < n; ++i) rows[0].push_back({"a", 3 * i, 3 * i + 1});
  for (Ns i = 0; i < n; ++i) rows.push_back({{"b", 3 * i % 7, 3 * i % 7 + 1}, {"b", 3 * n + i, 4 * n + i}});
  return hand_trace({{"p", "t", LaneKind::cpu_thread, rows}});
}

}  // namespace

TEST_CASE("what covers a lane, and questions in order of time by many readers, take steps in proportion to n log n") {
  const auto steps = [](Ns n, std::size_t readers) {
    const auto trace = apart_and_overlapping(n);
    trace->lanes[0].overlapping = static_cast<std::uint32_t>(n);
    const std::uint64_t before = counted_steps;
    const HostTime host(*trace);
    for (std::size_t r = 0; r < readers; ++r) {
      HostReader reader(host, true);
      CauseTimes times{};
      for (Ns i = 0; i < 5 * n; i += 5) reader.add_times(LaneId(0u), {i, i + 4}, times);
      CHECK(times[index_of(IdleCause::op)] > 2 * n);
    }
    return counted_steps - before;
  };
  const std::uint64_t few = steps(1'000, 40);
  CHECK(few > 2'000);
  CHECK(steps(4'000, 40) < 6 * few);
}
