#include "core/base/sparse_column.h"

#include <locale>
#include <ostream>
#include <random>

#include <doctest/doctest.h>

#include "core/base/step_points.h"

using namespace gapscope;

TEST_CASE("a sparse column gives back what was added in any order, zeros and values of any size") {
  std::mt19937_64 random(2);
  for (const std::size_t size : {0u, 1u, 63u, 64u, 65u, 1000u}) {
    std::vector<Ns> want(size, 0);
    std::vector<std::size_t> order(size);
    for (std::size_t i = 0; i < size; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    SparseNs::Draft draft;
    for (const std::size_t i : order) {
      if (random() % 3 == 0) want[i] = static_cast<Ns>(random()) >> (random() % 64);
      draft.add(i, want[i]);
    }
    const SparseNs column(size, draft);
    REQUIRE(column.size() == size);
    for (std::size_t i = 0; i < size; ++i) CHECK(column[i] == want[i]);
  }
}

TEST_CASE("step points give back times and values, also where they change by more than a byte or lie hours apart") {
  std::mt19937_64 random(4);
  StepPoints points;
  std::vector<std::pair<Ns, std::int32_t>> want;
  Ns t = -5;
  std::int32_t value = 0;
  for (int i = 0; i < 1000; ++i) {
    t += i % 97 == 0 ? 5'000'000'000 : static_cast<Ns>(random() % 1000);
    value = i % 50 == 0 ? static_cast<std::int32_t>(random()) : value + (random() % 2 == 0 ? 1 : -1) * (value > 0 ? 1 : 0);
    want.emplace_back(t, value);
    points.add(t, value);
  }
  REQUIRE(points.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    CHECK(points.time(i) == want[i].first);
    CHECK(points.value(i) == want[i].second);
  }
}
