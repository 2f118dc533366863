#include "core/index/deep_lane.h"

#include <algorithm>
#include <atomic>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/base/counted_steps.h"
#include "core/index/lane_index.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Slices of one lane that begin close together: operators, Python frames and instants over one another.
std::shared_ptr<const Trace> piled(int n, std::uint32_t longest, unsigned seed) {
  std::mt19937 random(seed);
  std::string inside;
  for (int i = 0; i < n; ++i) {
    const auto length = random() % 4 == 0 ? 0 : random() % longest;
    inside += (inside.empty() ? "" : ",") + slice("x", fmt::format("{}", random() % 1500), fmt::format("{}", length), "",
                                                  random() % 3 == 0 ? "python_function" : "cpu_op");
  }
  return load_text(events(inside));
}

bool covers(const Trace& t, SliceId s, Ns at) {
  return t.begin(s) <= at && (at < t.end(s) || (t.span_of(s).empty() && at == t.begin(s)));
}

// The deepest slice for which `holds`, looking at all.
template <class Holds>
SliceId deepest(const Trace& t, Holds holds) {
  SliceId found;
  for (std::size_t i = 0; i < t.slice_count(); ++i)
    if (holds(SliceId(i)) && (!found || t.row(SliceId(i)).depth > t.row(found).depth)) found = SliceId(i);
  return found;
}

SliceId naive_parent(const Trace& t, SliceId s) {
  return deepest(t, [&](SliceId p) {
    return t.row(p).depth < t.row(s).depth && t.begin(p) <= t.begin(s) && t.end(p) >= t.end(s) && t.begin(s) < t.end(p);
  });
}

// n operators that overlap one another.
std::shared_ptr<const Trace> staggered(int n) {
  std::string inside;
  for (int i = 0; i < n; ++i) inside += (i == 0 ? "" : ",") + slice("x", std::to_string(i), std::to_string(n));
  return load_text(events(inside));
}

}  // namespace

TEST_CASE("a lane hundreds deep says who encloses whom and what is innermost as if every slice had been asked") {
  for (const unsigned seed : {1u, 2u}) {
    const auto trace = piled(1200, seed == 1 ? 3000 : 400, seed);
    const Trace& t = *trace;
    REQUIRE(t.lanes.size() == 1);
    REQUIRE(t.lanes[0].depth_count >= DeepLane::kLeastDepths);
    const LaneIndex lanes(t);
    std::vector<std::vector<SliceId>> children(t.slice_count());
    bool all_right = true;
    for (std::size_t i = 0; i < t.slice_count(); ++i) {
      const SliceId parent = naive_parent(t, SliceId(i));
      all_right = all_right && lanes.parent(SliceId(i)) == parent;
      if (parent) children[parent.index()].push_back(SliceId(i));
    }
    CHECK(all_right);
    for (std::size_t i = 0; i < children.size(); ++i) {
      std::stable_sort(children[i].begin(), children[i].end(), [&](SliceId a, SliceId b) { return t.begin(a) < t.begin(b); });
      all_right = all_right && lanes.children(SliceId(i)) == children[i];
    }
    CHECK(all_right);
    std::mt19937 random(seed);
    for (int i = 0; i < 1500; ++i) {
      const Ns at = i % 2 == 0 ? static_cast<Ns>(random() % 1600) * 1000 : static_cast<Ns>(random() % 5'000'000) - 10'000;
      all_right = all_right && lanes.innermost_at(LaneId(0u), at) == deepest(t, [&](SliceId s) { return covers(t, s, at); });
      all_right = all_right && lanes.innermost_op_at(LaneId(0u), at) ==
                                   deepest(t, [&](SliceId s) { return t.kind(s) == Kind::op && covers(t, s, at); });
    }
    CHECK(all_right);
  }
}

TEST_CASE("a deep lane is asked about in steps that grow as n log n, and building it ends early once cancelled") {
  const auto steps = [](int n) {
    const auto trace = staggered(n);
    const std::uint64_t before = counted_steps;
    const LaneIndex lanes(*trace);
    const SliceId last(static_cast<std::size_t>(n - 1));
    CHECK(!lanes.parent(last));
    CHECK(lanes.innermost_at(LaneId(0u), trace->end(last) - 1) == last);
    return counted_steps - before;
  };
  const std::uint64_t few = steps(5'000);
  CHECK(few > 5'000);
  CHECK(few < 5'000 * 200);
  CHECK(steps(20'000) < 5 * few);

  const auto trace = staggered(20'000);
  const std::atomic<bool> cancel{true};
  const std::uint64_t before = counted_steps;
  const DeepLane cancelled(*trace, LaneId(0u), &cancel);
  CHECK(counted_steps - before < 200);
}
