#include "core/base/gallop.h"

#include <doctest/doctest.h>

using gapscope::first_where;

TEST_CASE("the first position that holds is found from any place, and nothing outside is looked at") {
  for (std::size_t stop = 0; stop < 70; ++stop)
    for (std::size_t from = 0; from <= stop; ++from)
      for (std::size_t answer = from; answer <= stop; ++answer) {
        std::size_t outside = 0;
        const std::size_t found = first_where(from, stop, [&](std::size_t i) {
          outside += i < from || i >= stop;
          return i >= answer;
        });
        REQUIRE(found == answer);
        REQUIRE(outside == 0);
      }
  CHECK(first_where(8, 5, [](std::size_t) { return true; }) == 8);
}

TEST_CASE("what lies near is found with few looks, and what lies far with a logarithm of them") {
  const auto looks = [](std::size_t answer) {
    std::size_t count = 0;
    first_where(0, 1'000'000, [&](std::size_t i) { return ++count, i >= answer; });
    return count;
  };
  CHECK(looks(0) == 1);
  CHECK(looks(3) <= 5);
  CHECK(looks(500'000) <= 40);
}
