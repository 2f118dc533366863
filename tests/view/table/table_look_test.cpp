// Rows that pass a filter, in the order of a column, and what is below them.
#include "core/view/table/table_look.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace gapscope;

namespace {

struct Item {
  std::string name;
  std::int64_t time;
  std::optional<double> rate;
};
struct None {};
constexpr ColumnOf<Item, None> kColumns[] = {
    {"name", "Name", "", Quantity::text, &field<&Item::name>},
    {"time", "Time", "", Quantity::ns, &field<&Item::time>, {.sorted = true, .sum = true}},
    {"rate", "Rate", "", Quantity::real, &field<&Item::rate>, {.hidden = true}},
    {"key", "Key", "", Quantity::text, [](const None&, const Item&) -> CellValue { return "same"; }, {.in = kInCsv}},
};
const std::vector<Item> kRows = {{"Linear", 5, 2.0}, {"relu", 30, {}}, {"linear_2", 5, 1.0}};

using Rows = std::vector<std::uint32_t>;
Rows rows(const TableLook& look) { return arrange(table_of(kColumns, {}, kRows), look); }

}  // namespace

TEST_CASE("rows stand in a column's order; equal ones keep their places") {
  CHECK(rows({}) == Rows{1, 0, 2});  // the table's own order
  CHECK(rows({{}, RowOrder{1, false}}) == Rows{0, 2, 1});
  CHECK(rows({{}, RowOrder{0, false}}) == Rows{0, 2, 1});
  CHECK(rows({{}, RowOrder{2, false}}) == Rows{1, 2, 0});  // what is absent comes before all others
  CHECK(rows({{}, RowOrder{4, false}}) == Rows{0, 1, 2});
}

TEST_CASE("a filter looks at the words that the grid has, whatever their case") {
  CHECK(rows({"LINEAR"}) == Rows{0, 2});
  CHECK(rows({"same"}).empty());
  CHECK(rows({"5"}).empty());
}

TEST_CASE("hidden columns are shown when the user asks, and the other way round") {
  const auto table = table_of(kColumns, {}, kRows);
  CHECK(is_shown(table, {}, 1));
  CHECK_FALSE(is_shown(table, {}, 2));
  CHECK_FALSE(is_shown(table, {}, 3));
  const TableLook other{{}, {}, 0b1111};
  CHECK(is_shown(table, other, 0));  // the first always is
  CHECK_FALSE(is_shown(table, other, 1));
  CHECK(is_shown(table, other, 2));
}

TEST_CASE("below the rows stand their sums and how many there are") {
  const auto table = table_of(kColumns, {}, kRows);
  CHECK(total_of(table, {0, 1, 2}, 0, "names").text == "3 names");
  CHECK(total_of(table, {0, 1}, 0, "names").text == "2 of 3 names");
  CHECK(total_of(table, {0, 1}, 1, "names").text == "35 ns");
  CHECK(total_of(table, {0, 1}, 2, "names").text.empty());
}

TEST_CASE("a difference is ordered by its size until its header is clicked: then by what fell most, then by what grew most") {
  static constexpr ColumnOf<Item, None> kChanges[] = {
      {"name", "Name", "", Quantity::text, &field<&Item::name>},
      {"change", "Change", "", Quantity::ns, &field<&Item::time>, {.sorted = true, .difference = true}},
      {"other",
       "Other",
       "",
       Quantity::ns,
       [](const None&, const Item& item) -> CellValue { return -item.time; },
       {.difference = true}},
  };
  const std::vector<Item> items = {{"faster", -20, {}}, {"slower", 10, {}}, {"fastest", -90, {}}, {"slowest", 40, {}}};
  const auto table = table_of(kChanges, {}, items);
  TableLook look;
  const auto click = [&](std::size_t column) {
    look.order = order_after_click(table, look, column);
    return arrange(table, look);
  };
  CHECK(arrange(table, look) == Rows{2, 3, 0, 1});
  CHECK(click(1) == Rows{2, 0, 1, 3});
  CHECK(click(1) == Rows{3, 1, 0, 2});
  CHECK(click(1) == Rows{2, 3, 0, 1});
  CHECK(click(2) == Rows{3, 1, 0, 2});
  CHECK(click(0) == Rows{0, 2, 1, 3});  // other columns as ever
  CHECK(click(0) == Rows{3, 1, 2, 0});
}
