#include "core/base/narrow_column.h"

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("a narrow column gives back every value, also those that lie alongside") {
  constexpr Ns kEdges[] = {0,
                           1,
                           -1,
                           2'147'483'647,
                           -2'147'483'647,
                           -2'147'483'648,
                           2'147'483'648,
                           4'294'967'295,
                           9'000'000'000'000'000'000,
                           -9'000'000'000'000'000'000};
  NsColumn column(10);
  for (std::size_t i = 0; i < 10; ++i) column.set(i, kEdges[i]);
  for (std::size_t i = 0; i < 10; ++i) CHECK(column[i] == kEdges[i]);
  column.set(6, 5);
  CHECK(column[6] == 5);
  column.add(3, 10);
  CHECK(column[3] == 2'147'483'657);
  NarrowColumn<std::uint16_t, std::uint32_t> groups(3);
  for (std::size_t i = 0; i < 3; ++i) groups.set(i, static_cast<std::uint32_t>(65'534 + i));
  for (std::size_t i = 0; i < 3; ++i) CHECK(groups[i] == 65'534 + i);
}

TEST_CASE("a narrow column takes what lies alongside in any order, and forgets it where a near value comes after") {
  NarrowColumn<std::uint16_t, std::uint32_t> column(6);
  for (const std::size_t i : {4u, 1u, 5u, 0u, 3u}) column.set(i, static_cast<std::uint32_t>(100'000 + i));
  column.set(1, 7);
  column.set(4, 200'000);
  column.push_back(300'000);
  column.push_back(9);
  const std::uint32_t want[] = {100'000, 7, 0, 100'003, 200'000, 100'005, 300'000, 9};
  REQUIRE(column.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) CHECK(column[i] == want[i]);
}
