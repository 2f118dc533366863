#include "core/base/radix_sort.h"

#include <locale>
#include <ostream>
#include <random>

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("sorting by bytes gives what comparing gives, and keeps the order of equal ones") {
  struct Record {
    std::uint32_t key, place;
    bool operator==(const Record&) const = default;
  };
  std::mt19937 random(3);
  for (const std::uint32_t mask : {0u, 1u, 0xFFu, 0xFF00u, 0xFF00FFu, 0xFFFFFFFFu}) {
    for (const std::size_t size : {0u, 1u, 60u, 65u, 3000u}) {
      std::vector<Record> list, other;
      for (std::uint32_t i = 0; i < size; ++i) list.push_back({static_cast<std::uint32_t>(random()) & mask, i});
      std::vector<Record> want = list;
      std::stable_sort(want.begin(), want.end(), [](const Record& a, const Record& b) { return a.key < b.key; });
      radix_sort(list, other, [](const Record& r) { return r.key; });
      CHECK(list == want);
      radix_sort(list, other, [](const Record& r) { return r.key; });  // sorted already
      CHECK(list == want);
    }
  }
}

TEST_CASE("times before zero sort before those after it") {
  std::mt19937_64 random(5);
  std::vector<Ns> times;
  for (int i = 0; i < 500; ++i) times.push_back(static_cast<Ns>(random()) >> (i % 60));
  std::vector<Ns> want = times;
  std::sort(want.begin(), want.end());
  sort_times(times);
  CHECK(times == want);
}
