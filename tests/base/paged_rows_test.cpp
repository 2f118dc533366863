#include "core/base/paged_rows.h"

#include <cstdint>

#include <doctest/doctest.h>

using namespace gapscope;

namespace {

struct Wide {
  std::uint64_t value[4096];  // eight rows a page
};

PagedRows<Wide> filled(std::size_t n) {
  PagedRows<Wide> rows;
  for (std::size_t i = 0; i < n; ++i) {
    Wide row{};
    row.value[0] = i;
    row.value[4095] = ~i;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("rows keep their values over single pages and blocks of pages") {
  static_assert(PagedRows<Wide>::kPageRows == 8);
  const PagedRows<Wide> rows = filled(1000);  // 125 pages
  CHECK(rows.page_count() == 125);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    REQUIRE(rows[i].value[0] == i);
    REQUIRE(rows[i].value[4095] == ~i);
  }
}

TEST_CASE("pieces of a range cover it in order and stay where they are") {
  PagedRows<Wide> rows = filled(5);
  const std::size_t first = rows.extend(30);
  CHECK(first == 5);
  const auto pieces = rows.pieces(first, 30);
  REQUIRE(pieces.size() == 5);
  CHECK(pieces[0].size == 3);
  CHECK(pieces[4].size == 3);
  rows.extend(2000);
  std::size_t at = first;
  for (const auto& piece : pieces) {
    for (std::size_t i = 0; i < piece.size; ++i) CHECK(&piece.begin[i] == &rows[at++]);
  }
  CHECK(at == 35);
  CHECK(rows.pieces(35, 0).empty());
}

TEST_CASE("consume gives every row once in order and leaves nothing") {
  PagedRows<Wide> rows = filled(777);
  std::size_t next = 0;
  rows.consume([&](const Wide& row, std::size_t position) {
    REQUIRE(position == next);
    REQUIRE(row.value[0] == next++);
  });
  CHECK(next == 777);
  CHECK(rows.empty());
  CHECK(rows.page_count() == 0);
}

TEST_CASE("a copy has rows of its own") {
  PagedRows<Wide> rows = filled(100);
  PagedRows<Wide> twin = rows.copy();
  rows[99].value[0] = 5;
  CHECK(twin.size() == 100);
  CHECK(twin[99].value[0] == 99);
}
