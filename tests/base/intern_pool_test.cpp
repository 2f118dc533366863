#include "core/base/intern_pool.h"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "core/base/parallel.h"

using namespace gapscope;

namespace {

struct Pair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  friend bool operator==(const Pair&, const Pair&) = default;
};

}  // namespace

TEST_CASE("equal values share a position, others do not") {
  InternPool<Pair> values;
  InternPool<Pair>::Writer writer(values);
  const std::uint32_t first = writer.add({1, 2});
  CHECK(writer.add({2, 1}) != first);
  CHECK(writer.add({1, 2}) == first);
  InternPool<Pair>::Writer another(values);
  CHECK(another.add({1, 2}) == first);
  CHECK(values.size() == 2);
}

TEST_CASE("values that several threads add are each kept once, and a copy continues from there") {
  InternPool<Pair> values;
  constexpr int kThreads = 4;
  constexpr std::uint32_t kDistinct = 3000;
  std::vector<std::vector<std::pair<Pair, std::uint32_t>>> added(kThreads);
  run_workers(kThreads, [&](int worker) {
    std::mt19937 random(static_cast<unsigned>(worker));
    for (int piece = 0; piece < 20; ++piece) {
      InternPool<Pair>::Writer writer(values);
      for (int i = 0; i < 2000; ++i) {
        const Pair value{static_cast<std::uint32_t>(random() % kDistinct), 7};
        added[static_cast<std::size_t>(worker)].emplace_back(value, writer.add(value));
      }
    }
  });
  CHECK(values.size() == kDistinct);
  InternPool<Pair> twin;
  values.copy_to(twin);
  for (const auto& of_thread : added) {
    for (const auto& [value, position] : of_thread) {
      REQUIRE(values[position] == value);
      REQUIRE(twin[position] == value);
    }
  }
  const auto& [value, position] = added[0][0];
  InternPool<Pair>::Writer writer(twin);
  CHECK(writer.add(value) == position);
  CHECK(twin[writer.add({kDistinct, 7})] == Pair{kDistinct, 7});
  CHECK(values.size() == kDistinct);
}
