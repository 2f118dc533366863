#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "core/base/counted_steps.h"
#include "core/build/lane_builder.h"

using namespace gapscope;

namespace {

struct Nested {
  NestedLane lane;
  std::vector<std::uint32_t> order;
  // depth of each slice, by its place in the input
  std::vector<std::uint32_t> depth;
};

Nested nest(const std::vector<Span>& slices) {
  std::vector<Ns> begin, end;
  for (const Span s : slices) {
    begin.push_back(s.begin);
    end.push_back(s.end);
  }
  Nested out;
  out.order.resize(slices.size());
  std::iota(out.order.begin(), out.order.end(), 0u);
  static LaneNester nester;  // what an earlier lane left must not matter
  std::vector<std::uint32_t> members = out.order;
  out.lane = nester.nest(members, begin, end);
  nester.each_place(members, out.lane, [&](std::uint32_t member, std::uint32_t place) { out.order[place] = member; });
  out.depth.resize(slices.size());
  std::size_t at = 0;
  for (std::uint32_t d = 0; d < out.lane.row_counts.size(); ++d) {
    for (std::uint32_t i = 0; i < out.lane.row_counts[d]; ++i) out.depth[out.order[at++]] = d;
  }
  return out;
}

using Depths = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("slices nest by containment, whatever their order in the file") {
  CHECK(nest({{0, 100}, {10, 50}, {20, 30}, {60, 70}}).depth == Depths{0, 1, 2, 1});
  CHECK(nest({{60, 70}, {20, 30}, {10, 50}, {0, 100}}).depth == Depths{1, 2, 1, 0});
}

TEST_CASE("of two slices with one begin the longer encloses the shorter, and equal ones nest in file order") {
  CHECK(nest({{0, 10}, {0, 20}}).depth == Depths{1, 0});
  CHECK(nest({{0, 10}, {0, 10}}).depth == Depths{0, 1});
}

TEST_CASE("slices that touch do not nest") { CHECK(nest({{0, 10}, {10, 20}, {20, 30}}).depth == Depths{0, 0, 0}); }

TEST_CASE("a slice that overlaps another without nesting goes to the next free depth and is counted") {
  const Nested pair = nest({{0, 20}, {10, 30}});
  CHECK(pair.depth == Depths{0, 1});
  CHECK(pair.lane.overlapping == 1);
  // A chain, as kernels under programmatic dependent launch make it, alternates instead of stepping down for ever.
  CHECK(nest({{0, 20}, {10, 30}, {25, 45}, {40, 60}}).depth == Depths{0, 1, 0, 1});
  // Inside a common parent it stays below the parent.
  CHECK(nest({{0, 100}, {10, 50}, {40, 60}}).depth == Depths{0, 1, 2});
}

TEST_CASE("what is in an overlapping slice is drawn below it") {
  CHECK(nest({{0, 100}, {10, 50}, {40, 80}, {55, 60}}).depth == Depths{0, 1, 2, 3});
}

TEST_CASE("empty slices at one instant each get a depth of their own") {
  const Nested n = nest({{5, 5}, {5, 5}, {6, 6}});
  CHECK(n.depth == Depths{0, 1, 0});
  CHECK(n.lane.overlapping == 0);
}

TEST_CASE("lanes deeper than 65,535 are nested as others are") {
  constexpr std::uint32_t kDepths = 70'000;
  std::vector<Span> slices;
  for (std::uint32_t d = 0; d < kDepths; ++d) slices.push_back({d, 1'000'000 - d});
  slices.push_back({2'000'000, 2'000'001});
  const Nested n = nest(slices);
  REQUIRE(n.lane.row_counts.size() == kDepths);
  for (std::uint32_t d = 0; d < kDepths; ++d) REQUIRE(n.depth[d] == d);
  CHECK(n.depth.back() == 0);
  CHECK(n.lane.row_counts[0] == 2);
  // A longer lane after it is as flat as ever.
  slices.clear();
  for (std::uint32_t i = 0; i < kDepths + 1000; ++i) slices.push_back({i, i + 1});
  CHECK(nest(slices).lane.row_counts == Depths{kDepths + 1000});
  CHECK(nest({{0, 100}, {10, 50}, {20, 30}}).depth == Depths{0, 1, 2});
}

namespace {

// Rows looked at while these are nested.
std::uint64_t steps_to_nest(const std::vector<Span>& slices) {
  const std::uint64_t before = counted_steps;
  nest(slices);
  return counted_steps - before;
}

// Every depth asked for every slice.
Depths nested_naively(const std::vector<Span>& slices) {
  std::vector<std::uint32_t> order(slices.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return slices[a].begin != slices[b].begin ? slices[a].begin < slices[b].begin : slices[a].end > slices[b].end;
  });
  Depths depths(slices.size());
  std::vector<Span> last;
  for (const std::uint32_t i : order) {
    const Span s = slices[i];
    std::size_t depth = 0;
    for (std::size_t d = 0; d < last.size(); ++d)
      if (last[d].end >= s.end && last[d].end > s.begin) depth = d + 1;
    while (depth < last.size() && !(last[depth].end <= s.begin && last[depth].begin < s.begin)) ++depth;
    if (depth == last.size()) last.push_back({});
    last[depth] = s;
    depths[i] = static_cast<std::uint32_t>(depth);
  }
  return depths;
}

}  // namespace

TEST_CASE(
    "slices that overlap, that nest or that share an instant cost steps in proportion to their number, whatever their depth") {
  using Shape = Span (*)(Ns i, Ns n);
  const std::vector<Shape> shapes = {
      [](Ns i, Ns n) {
        return Span{i, i + n};
      },  // each overlaps all others
      [](Ns i, Ns n) {
        return Span{i, 4 * n + i % 300};
      },  // some enclose some
      [](Ns i, Ns n) {
        return Span{i, 2 * n - i};
      },  // each encloses the next
      [](Ns, Ns) {
        return Span{5, 5};
      },  // all at one instant
      [](Ns, Ns) {
        return Span{5, 10};
      },  // all the same
      [](Ns i, Ns n) {
        return Span{i / 100, i / 100 + (i % 100) * n};
      },
      [](Ns i, Ns n) {
        return i % 2 == 0 ? Span{i, i + n} : Span{i, i};
      },
  };
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    CAPTURE(shape);
    const auto steps = [&](Ns n) {
      std::vector<Span> slices;
      for (Ns i = 0; i < n; ++i) slices.push_back(shapes[shape](i, n));
      return steps_to_nest(slices);
    };
    const std::uint64_t few = steps(20'000);
    CHECK(few < 20'000 * 512);
    CHECK(steps(80'000) < 5 * few);
  }
}

TEST_CASE("lanes hundreds deep are nested as if every depth had been asked") {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    std::vector<Span> slices;
    const Ns most = round % 2 == 0 ? 3000 : 400;
    for (int i = 0; i < 2500; ++i) {
      const Ns begin = static_cast<Ns>(random() % 1500);
      slices.push_back({begin, begin + (random() % 4 == 0 ? 0 : static_cast<Ns>(random() % static_cast<std::uint32_t>(most)))});
    }
    const Nested n = nest(slices);
    CHECK(n.lane.row_counts.size() > 300);
    CHECK(n.depth == nested_naively(slices));
  }
}

TEST_CASE("nesting ends early once it is cancelled") {
  std::vector<Ns> begin, end;
  std::vector<std::uint32_t> members;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    members.push_back(i);
    begin.push_back(100'000 - i);
    end.push_back(300'000);
  }
  const std::atomic<bool> cancel{true};
  LaneNester nester;
  const std::uint64_t before = counted_steps;
  nester.nest(members, begin, end, &cancel);
  CHECK(counted_steps - before < 100);
}

TEST_CASE("busy is the union, total the plain sum") {
  const NestedLane lane = nest({{0, 10}, {5, 20}, {30, 40}, {31, 32}}).lane;
  CHECK(lane.busy == 30);
  CHECK(lane.total_dur == 36);
  CHECK(lane.span == Span{0, 40});
}

TEST_CASE("random slices: one depth never overlaps, nothing is lost, and enclosed slices lie deeper") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Span> slices;
    for (int i = 0; i < 40; ++i) {
      const Ns begin = static_cast<Ns>(random() % 60);
      slices.push_back({begin, begin + static_cast<Ns>(random() % 20)});
    }
    const Nested n = nest(slices);
    REQUIRE(std::accumulate(n.lane.row_counts.begin(), n.lane.row_counts.end(), 0u) == slices.size());
    for (std::size_t a = 0; a < slices.size(); ++a) {
      for (std::size_t b = 0; b < slices.size(); ++b) {
        if (a == b) continue;
        if (n.depth[a] == n.depth[b]) CHECK(!slices[a].overlaps(slices[b]));
        const bool strictly_inside = slices[a].begin < slices[b].begin && slices[b].end < slices[a].end;
        if (strictly_inside) CHECK(n.depth[a] < n.depth[b]);
      }
    }
  }
}
