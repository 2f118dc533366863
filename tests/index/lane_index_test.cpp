#include <cmath>
#include <limits>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/index/lane_index.h"
#include "core/index/name_index.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// n slices of one lane, in random lengths and gaps; every tenth has a child.
std::shared_ptr<const Trace> random_lane(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::string inside;
  Ns t = 1000;
  for (int i = 0; i < n; ++i) {
    const Ns gap = static_cast<Ns>(random() % 3 == 0 ? random() % 100'000 : random() % 50);
    const Ns length = static_cast<Ns>(random() % 50 == 0 ? random() % 200'000 : random() % 300);
    t += gap;
    if (!inside.empty()) inside += ",";
    inside += slice(fmt::format("n{}", i % 7), fmt::format("{}.{:03}", t / 1000, t % 1000),
                    fmt::format("{}.{:03}", length / 1000, length % 1000));
    if (i % 10 == 0 && length > 20)
      inside += "," + slice("child", fmt::format("{}.{:03}", (t + 5) / 1000, (t + 5) % 1000), "0.010");
    t += length;
  }
  return load_text(events(inside));
}

}  // namespace

TEST_CASE("what is visible covers every slice of the view exactly once, at any zoom, and at most two items begin a column") {
  const auto t = random_lane(20'000, 3);
  const LaneIndex index(*t);
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    const Ns whole = t->span.length();
    const Ns length =
        std::max<Ns>(50, static_cast<Ns>(static_cast<double>(whole) * std::pow(0.5, static_cast<double>(random() % 20))));
    const Ns begin = t->span.begin - length / 2 + static_cast<Ns>(random() % static_cast<std::uint64_t>(whole));
    const Span view{begin, begin + length};
    const int width = 100 + static_cast<int>(random() % 2000);
    for (std::uint32_t r = 0; r < t->rows.size(); ++r) {
      std::vector<VisibleItem> items;
      index.visible(RowId(r), view, width, items);
      std::uint64_t expected = 0;
      const Row& row = t->rows[r];
      for (std::uint32_t s = row.first; s < row.first + row.count; ++s) {
        const bool zero_at_begin = t->slices.begin[s] == view.begin && t->slices.end[s] == view.begin;
        expected += t->slices.begin[s] < view.end && (t->slices.end[s] > view.begin || zero_at_begin) ? 1u : 0u;
      }
      std::uint64_t shown = 0;
      Ns last_end = std::numeric_limits<Ns>::min();
      std::int64_t last_column = -1;
      int in_column = 0;
      for (const VisibleItem& item : items) {
        // A folded run may reach a little beyond the view; what it holds inside is what counts.
        for (std::uint32_t s = row.first; item.count > 1 && s < row.first + row.count; ++s) {
          shown += t->slices.begin[s] >= item.begin && t->slices.end[s] <= item.end && t->slices.begin[s] < view.end &&
                           t->slices.end[s] >= item.begin
                       ? 1u
                       : 0u;
        }
        shown += item.count == 1 ? 1u : 0u;
        CHECK(item.begin >= last_end);
        last_end = item.end;
        const std::int64_t column = static_cast<std::int64_t>(
            static_cast<__int128>(std::max(item.begin, view.begin) - view.begin) * width / view.length());
        in_column = column == last_column ? in_column + 1 : 1;
        last_column = column;
        CHECK(in_column <= 2);
        CHECK(item.begin < view.end);
      }
      CHECK(shown == expected);
    }
  }
}

TEST_CASE("the folded run names its longest slice") {
  const auto t = random_lane(20'000, 11);
  const LaneIndex index(*t);
  std::vector<VisibleItem> items;
  index.visible(RowId(0u), t->span, 50, items);
  for (const VisibleItem& item : items) {
    const Row& row = t->rows[0];
    Ns longest = 0;
    for (std::uint32_t s = row.first; s < row.first + row.count; ++s) {
      if (t->slices.begin[s] >= item.begin && t->slices.end[s] <= item.end)
        longest = std::max(longest, t->slices.end[s] - t->slices.begin[s]);
    }
    CHECK(t->duration(item.slice) == longest);
  }
}

TEST_CASE("at a time, parents, children and self time") {
  const auto t = load_text(
      events(slice("a", "0", "10") + "," + slice("b", "1", "3") + "," + slice("c", "5", "2") + "," + slice("d", "1.5", "1")));
  const LaneIndex index(*t);
  const SliceId a = index.at(RowId(0u), 0);
  REQUIRE(a);
  CHECK(t->name(a) == "a");
  CHECK(!index.at(RowId(1u), 4'500));
  const SliceId d = index.innermost_at(LaneId(0u), 1'600);
  CHECK(t->name(d) == "d");
  CHECK(t->name(index.parent(d)) == "b");
  CHECK(index.ancestors(d).size() == 2);
  CHECK(index.children(a).size() == 2);
  CHECK(index.self_time(a) == 5'000);
  CHECK(t->name(index.next_in_row(index.parent(d))) == "c");
  CHECK(!index.previous_in_row(a));
}

TEST_CASE("the parent of an overlapping slice encloses it, and it is nobody's lost child") {
  const auto t = load_text(events(slice("a", "0", "10") + "," + slice("b", "1", "4") + "," + slice("c", "3", "4")));
  const LaneIndex index(*t);
  const SliceId c = index.at(RowId(2u), 6'000);
  REQUIRE(c);
  CHECK(t->name(index.parent(c)) == "a");
  CHECK(index.children(index.parent(c)).size() == 2);
  CHECK(index.self_time(index.parent(c)) == 4'000);  // [0, 10) without [1, 7)
}

TEST_CASE("all slices of a name come in time order over lanes and depths") {
  const auto t = load_text(events(slice("x", "9", "1", "", "cpu_op", "2") + "," + slice("x", "1", "5") + "," +
                                  slice("x", "2", "1") + "," + slice("y", "0", "1")));
  const NameIndex names(*t);
  const auto x = names.slices_named(t->strings.find("x"));
  REQUIRE(x.size() == 3);
  CHECK(t->begin(x[0]) == 1'000);
  CHECK(t->begin(x[2]) == 9'000);
  CHECK(names.slices_named(t->strings.find("nothing")).empty());
}
