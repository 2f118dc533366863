#include "core/base/merge_runs.h"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace gapscope;

namespace {

using Numbered = std::pair<std::uint32_t, std::uint32_t>;  // key, place before

std::vector<Numbered> rows(std::size_t n, std::uint32_t largest, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Numbered> made;
  for (std::uint32_t i = 0; i < n; ++i)
    made.emplace_back(static_cast<std::uint32_t>(random() % (std::uint64_t{largest} + 1)), i);
  return made;
}

bool earlier(const Numbered& a, const Numbered& b) { return a.first < b.first; }

}  // namespace

TEST_CASE("merge_runs orders any number of ascending stretches and keeps the order of equals") {
  for (const std::size_t runs : {1u, 2u, 3u, 4u, 5u, 17u, 64u}) {
    std::vector<Numbered> sorted;
    for (unsigned r = 0; r < runs; ++r) {
      std::vector<Numbered> run = rows(50 * r % 173 + 1, 300, r);
      std::stable_sort(run.begin(), run.end(), earlier);
      sorted.insert(sorted.end(), run.begin(), run.end());
    }
    for (std::uint32_t i = 0; i < sorted.size(); ++i) sorted[i].second = i;
    std::vector<Numbered> expected = sorted, spare;
    std::stable_sort(expected.begin(), expected.end(), earlier);
    merge_runs(std::span(sorted), spare, earlier);
    CHECK(sorted == expected);
  }
  std::vector<Numbered> descending, spare;
  for (std::uint32_t i = 0; i < 999; ++i) descending.emplace_back(1000 - i, i);
  merge_runs(std::span(descending), spare, earlier);
  CHECK(std::is_sorted(descending.begin(), descending.end(), earlier));
  std::vector<Numbered> none;
  merge_runs(std::span(none), spare, earlier);
  CHECK(none.empty());
}
