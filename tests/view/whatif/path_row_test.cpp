// A critical path by pixel columns, compared with adding up its stretches one by one.
#include "core/view/whatif/path_row.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace gapscope;

namespace {

std::vector<PathStretch> random_path(std::mt19937& random, std::size_t count) {
  std::vector<PathStretch> path;
  Ns at = 1000;
  for (std::size_t i = 0; i < count; ++i) {
    const Ns length = 1 + static_cast<Ns>(random() % (i % 7 == 0 ? 5000 : 40));
    path.push_back({{at, at + length}, static_cast<HeldBy>(random() % kHeldBy), {}, {}});
    at += length;
  }
  return path;
}

std::array<Ns, kHeldBy> one_by_one(const std::vector<PathStretch>& path, Span span) {
  std::array<Ns, kHeldBy> out{};
  for (const PathStretch& s : path) out[static_cast<std::size_t>(s.by)] += intersect(s.span, span).length();
  return out;
}

}  // namespace

TEST_CASE("times of a path in any span are those of its stretches") {
  std::mt19937 random(7);
  for (const std::size_t count : {1u, 5u, 64u, 65u, 1000u}) {
    const std::vector<PathStretch> path = random_path(random, count);
    const PathRow row(path);
    const Span all{path.front().span.begin, path.back().span.end};
    CHECK(row.within(all) == one_by_one(path, all));
    for (int i = 0; i < 200; ++i) {
      const Ns a = all.begin - 20 + static_cast<Ns>(random() % static_cast<std::uint64_t>(all.length() + 40));
      const Span span{a, a + static_cast<Ns>(random() % 4000)};
      CHECK(row.within(span) == one_by_one(path, span));
    }
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(row.at(path[i].span.begin) == i);
      CHECK(row.at(path[i].span.end - 1) == i);
    }
    CHECK(row.at(all.end) == count);
    CHECK(row.at(all.begin - 1) == count);
  }
}

TEST_CASE("every column of a path is drawn once, in the colour of what holds the run back for most of it") {
  std::mt19937 random(11);
  const std::vector<PathStretch> path = random_path(random, 700);
  const PathRow row(path);
  const Span all{path.front().span.begin, path.back().span.end};
  for (const Span visible : {all, Span{all.begin - 500, all.begin + 3000}, Span{all.begin + 9000, all.begin + 9100}}) {
    const PixelGrid grid(TimeView{visible, 0, 0}, 300, all.begin);
    std::vector<PathRect> rects;
    row.paint(grid, rects);
    REQUIRE_FALSE(rects.empty());
    int x = rects.front().x0;
    for (const PathRect& rect : rects) {
      CHECK(rect.x0 == x);
      x = rect.x1;
      REQUIRE(rect.longest < path.size());
      CHECK(path[rect.longest].by == rect.by);
      for (int column = rect.x0; column < rect.x1; ++column) {
        const auto times = row.within({grid.begin_of(column), std::max(grid.begin_of(column + 1), grid.begin_of(column) + 1)});
        CHECK(times[static_cast<std::size_t>(rect.by)] == *std::max_element(times.begin(), times.end()));
      }
    }
    const int first = std::max(0, grid.column(all.begin)), last = std::min(grid.width(), grid.column(all.end - 1) + 1);
    CHECK(rects.front().x0 == first);
    CHECK(x == last);
  }
}

TEST_CASE("a path without stretches draws nothing") {
  const PathRow row({});
  std::vector<PathRect> rects;
  row.paint(PixelGrid(TimeView{{0, 100}, 0, 0}, 50, 0), rects);
  CHECK(rects.empty());
  CHECK(row.at(5) == 0);
  CHECK(row.within({0, 100}) == std::array<Ns, kHeldBy>{});
}
