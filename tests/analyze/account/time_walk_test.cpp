#include "core/analyze/account/time_walk.h"

#include <locale>
#include <ostream>
#include <random>

#include <doctest/doctest.h>

#include "core/base/counted_steps.h"
#include "tests/support/hand_trace.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

bool is_op(Kind k) { return k == Kind::op; }
bool is_any(Kind) { return true; }

std::vector<SliceId> walked(const Trace& trace, bool (*wants)(Kind)) {
  std::vector<SliceId> order;
  walk_by_time(trace, all_rows(trace), categories_of(trace, wants), {column_to_come(trace.slices.end)},
               [&](SliceId s, Ns begin) {
                 CHECK(begin == trace.begin(s));
                 order.push_back(s);
               });
  return order;
}

std::vector<SliceId> sorted(const Trace& trace, bool (*wants)(Kind)) {
  std::vector<SliceId> order;
  for (std::size_t s = 0; s < trace.slice_count(); ++s)
    if (wants(trace.kind(SliceId(s)))) order.emplace_back(s);
  std::stable_sort(order.begin(), order.end(), [&](SliceId a, SliceId b) { return trace.begin(a) < trace.begin(b); });
  return order;
}

// Rows of slices whose begins are at most `step` apart, with now and then a far jump.
std::shared_ptr<Trace> random_rows(std::mt19937& random, std::size_t rows, std::size_t slices, std::uint32_t step, Ns jump) {
  std::vector<HandLane> lanes;
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<HandSlice> row;
    Ns t = -static_cast<Ns>(random() % 1000);
    for (std::size_t i = 0; i < slices; ++i) {
      t += random() % 500 == 0 ? jump : static_cast<Ns>(random() % (step + 1));
      row.push_back({"s", t, t, random() % 3 == 0 ? Kind::python : Kind::op});
    }
    lanes.push_back({"p", "t", LaneKind::cpu_thread, {row}});
  }
  return hand_trace(lanes);
}

}  // namespace

TEST_CASE("a walk by time meets the slices of the wanted kinds in order of begin, then of id") {
  std::mt19937 random(7);
  for (const std::uint32_t step : {0u, 1u, 50u, 100'000u, 4'000'000'000u}) {
    for (const std::size_t rows : {1u, 3u, 40u}) {
      const auto trace = random_rows(random, rows, 12'000 / rows, step, 30'000'000'000);
      INFO(step, " ns apart in ", rows, " rows");
      CHECK(walked(*trace, is_op) == sorted(*trace, is_op));
      CHECK(walked(*trace, is_any) == sorted(*trace, is_any));
    }
  }
}

TEST_CASE("a walk by time gets by with no slices, with none that is wanted and with the whole range of times") {
  CHECK(walked(*hand_trace({}), is_any).empty());
  CHECK(walked(*hand_trace({{"p", "t", LaneKind::cpu_thread, {{{"s", 1, 2, Kind::python}}}}}), is_op).empty());
  constexpr Ns kFirst = std::numeric_limits<Ns>::min(), kLast = std::numeric_limits<Ns>::max();
  const auto wide =
      hand_trace({{"p", "t", LaneKind::cpu_thread, {{{"a", kFirst, kFirst}, {"c", kLast, kLast}}, {{"b", 0, 1}}}}});
  CHECK(walked(*wide, is_any) == std::vector<SliceId>{SliceId(0u), SliceId(2u), SliceId(1u)});
}

TEST_CASE("a walk by time costs steps in proportion to the slices where each of many rows holds few of them, far apart") {
  const auto steps = [](Ns n) {
    std::vector<HandLane> lanes;
    for (Ns i = 0; i < n; ++i) {
      std::vector<HandSlice> row;
      for (Ns k = 0; k < 3; ++k)
        row.push_back({"s", 5'000'000'000 * (i * 7919 % n + k * n), 5'000'000'000 * (i * 7919 % n + k * n) + 1, Kind::op});
      lanes.push_back({"p", "t", LaneKind::cpu_thread, {row}});
    }
    const auto trace = hand_trace(lanes);
    const std::uint64_t before = counted_steps;
    CHECK(walked(*trace, is_op) == sorted(*trace, is_op));
    return counted_steps - before;
  };
  const std::uint64_t few = steps(2'000);
  CHECK(few < 2'000 * 3 * 64);
  CHECK(steps(8'000) < 5 * few);
}
