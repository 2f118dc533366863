#include "core/view/timeline/grown_view.h"

#include <doctest/doctest.h>

#include "core/view/timeline/lane_layout.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// The beginning of a file and all of it. The whole has a lane above the known ones, and more slices in them.
struct Grown {
  std::string first = slice("a", "1", "8") + "," + slice("b", "2", "3") + "," + slice("b", "2", "3") + "," +
                      slice("c", "20", "4", "", "cpu_op", "2");
  std::string rest = "," + slice("outer", "0", "90") + "," + slice("d", "50", "3") + "," +
                     slice("new", "4", "2", "", "cpu_op", "0") + "," + slice("e", "70", "3", "", "cpu_op", "2");
  std::shared_ptr<const Trace> part = load_text(events(first));
  std::shared_ptr<const Trace> whole = load_text(events(first + rest));
};

LaneId lane_of(const Trace& t, std::string_view key) {
  for (std::size_t l = 0; l < t.lanes.size(); ++l) {
    if (t.lanes[l].key == key) return LaneId(l);
  }
  return {};
}

}  // namespace

TEST_CASE("every slice of the part is found in the whole, also where two begin at once") {
  const Grown g;
  for (std::size_t i = 0; i < g.part->slice_count(); ++i) {
    const SliceId same = same_slice(*g.part, SliceId(i), *g.whole);
    REQUIRE(same);
    CHECK(g.whole->slices.offset[same.index()] == g.part->slices.offset[i]);
    CHECK(g.whole->name(same) == g.part->name(SliceId(i)));
  }
  CHECK_FALSE(same_slice(*g.part, SliceId{}, *g.whole));
}

TEST_CASE("a lane is known by its process and thread, wherever it is") {
  const Grown g;
  CHECK(lane_of(*g.part, "2").index() == 1);
  CHECK(same_lane(*g.part, lane_of(*g.part, "2"), *g.whole) == lane_of(*g.whole, "2"));
  CHECK(lane_of(*g.whole, "2").index() == 2);
  CHECK_FALSE(same_lane(*g.whole, lane_of(*g.whole, "0"), *g.part));
}

TEST_CASE("what was looked at stays: time, selection, range, folds") {
  const Grown g;
  ViewState view;
  reset_folds(view.active().folds, *g.part);
  toggle_lane(view.active().folds, lane_of(*g.part, "2"));
  const std::uint64_t revision = view.active().folds.revision;
  view.active().time = TimeView{{3000, 5000}, 0.25, 0};
  view.active().selection = SliceId(std::size_t{3});
  view.active().range = Span{1000, 2000};
  view.active().details.slice = view.active().selection;
  grow_view(view.active(), *g.part, *g.whole);
  CHECK(view.active().time.span == Span{3000, 5000});
  CHECK(view.active().time.begin_rest_ns == 0.25);
  CHECK(g.whole->name(view.active().selection) == "c");
  CHECK(view.active().range == Span{1000, 2000});
  CHECK(view.active().folds.lane_collapsed == std::vector<bool>{false, false, true});
  CHECK(view.active().folds.lane_hidden.size() == 3);
  CHECK(view.active().folds.revision > revision);
  CHECK_FALSE(view.active().details.slice);  // made anew for the slice's new id
}

TEST_CASE("a view of the whole part becomes a view of the whole file") {
  const Grown g;
  ViewState view;
  reset_folds(view.active().folds, *g.part);
  view.active().time = fit(g.part->span);
  grow_view(view.active(), *g.part, *g.whole);
  CHECK(view.active().time.span == fit(g.whole->span).span);
}
