#include "core/view/timeline/lane_drag.h"

#include <doctest/doctest.h>

#include "tests/support/hand_trace.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Arranged {
  std::shared_ptr<const Trace> trace = hand_trace({{"p", "one", LaneKind::cpu_thread, {{{"a", 0, 10}}}},
                                                   {"p", "two", LaneKind::cpu_thread, {{{"b", 0, 10}}}},
                                                   {"p", "three", LaneKind::cpu_thread, {{{"c", 0, 10}}}},
                                                   {"GPU", "stream", LaneKind::gpu_stream, {{{"k", 0, 10, Kind::kernel}}}}});
  LaneFolds folds;
  Arranged() { reset_folds(folds, *trace); }
  LaneLayout layout() const { return LaneLayout(*trace, folds, LaneMetrics{}); }
  std::string order() const {
    std::string text;
    const LaneLayout all = layout();
    for (const Band& band : all.bands())
      text +=
          (text.empty() ? "" : " ") + (band.kind == BandKind::process ? "[" + trace->processes[band.process.index()].title + "]"
                                                                      : trace->lane(band.lane).title);
    return text;
  }
  void drag(LaneDrag what, float y) {
    if (const auto at = drop_at(layout(), what, y)) drop(folds, what, *at);
  }
};

}  // namespace

TEST_CASE("a lane dragged over another of its process changes places with it") {
  Arranged a;
  const LaneLayout layout = a.layout();
  a.drag({LaneId(0), {}}, layout.band_of(LaneId(1))->bottom() + 2);
  CHECK(a.order() == "[GPU] stream [p] two one three");
  a.drag({LaneId(2), {}}, 0);
  CHECK(a.order() == "[GPU] stream [p] three two one");
}

TEST_CASE("a lane stays in its process, however far it is dragged") {
  Arranged a;
  a.drag({LaneId(0), {}}, 10'000);
  CHECK(a.order() == "[GPU] stream [p] two three one");
}

TEST_CASE("a lane let go where it lies stays there") {
  Arranged a;
  const LaneLayout layout = a.layout();
  const Band& band = *layout.band_of(LaneId(1));
  CHECK_FALSE(drop_at(layout, {LaneId(1), {}}, band.y + 2).has_value());
  CHECK_FALSE(drop_at(layout, {LaneId(1), {}}, band.bottom() - 2).has_value());
}

TEST_CASE("a process moves with all its lanes") {
  Arranged a;
  a.drag({{}, ProcessId(0)}, 3);
  CHECK(a.order() == "[p] one two three [GPU] stream");
}

TEST_CASE("a pinned lane is above all processes, and among pinned ones the order can be changed too") {
  Arranged a;
  set_pinned(a.folds, LaneId(1), true);
  set_pinned(a.folds, LaneId(3), true);
  CHECK(a.order() == "two stream [p] one three");
  CHECK(a.layout().pinned_count() == 2);
  a.drag({LaneId(3), {}}, 0);
  CHECK(a.order() == "stream two [p] one three");
  set_pinned(a.folds, LaneId(1), false);
  CHECK(a.order() == "stream [p] one two three");
}

TEST_CASE("only lanes whose title holds the filter are shown, whatever the case, and showing hidden ones clears it") {
  Arranged a;
  set_filter(a.folds, "STR");
  CHECK(a.order() == "[GPU] stream");
  hide_lane(a.folds, LaneId(0));
  CHECK(hidden_count(a.folds) == 1);
  show_hidden(a.folds);
  CHECK(a.order() == "[GPU] stream [p] one two three");
}

TEST_CASE("folding all but the GPU folds threads only, and once more opens all") {
  Arranged a;
  toggle_all_but_gpu(a.folds, *a.trace);
  CHECK(a.folds.lane_collapsed == std::vector<bool>{true, true, true, false});
  toggle_all_but_gpu(a.folds, *a.trace);
  CHECK(a.folds.lane_collapsed == std::vector<bool>{false, false, false, false});
}
