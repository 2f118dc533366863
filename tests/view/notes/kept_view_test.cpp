#include "core/view/notes/kept_view.h"

#include <doctest/doctest.h>

#include "core/view/timeline/time_view.h"
#include "tests/support/hand_trace.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::shared_ptr<Trace> two_processes(bool with_third = false) {
  std::vector<HandLane> lanes = {{"p", "one", LaneKind::cpu_thread, {{{"a", 0, 1000}}, {{"b", 100, 200}, {"b", 300, 400}}}},
                                 {"p", "two", LaneKind::cpu_thread, {{{"c", 0, 1000}}}},
                                 {"g", "stream", LaneKind::gpu_stream, {{{"k", 500, 900}}}}};
  if (with_third) lanes.insert(lanes.begin(), {"new", "lane", LaneKind::cpu_thread, {{{"n", 0, 10}}}});
  auto trace = hand_trace(lanes);
  for (Lane& lane : trace->lanes) lane.key = lane.title;
  return trace;
}

ViewState fresh(const Trace& trace) {
  ViewState view;
  reset_folds(view.active().folds, trace);
  view.active().time = fit(trace.span);
  return view;
}

ViewState changed(const Trace& trace) {
  ViewState view = fresh(trace);
  view.active().time.span = {100, 400};
  view.active().scroll_px = 12;
  view.active().range = Span{200, 300};
  view.active().selection = SliceId(2);
  toggle_lane(view.active().folds, LaneId(0));
  hide_lane(view.active().folds, LaneId(1));
  set_pinned(view.active().folds, LaneId(2), true);
  toggle_process(view.active().folds, ProcessId(1));
  move_lane(view.active().folds, LaneId(2), LaneId(0), false);
  move_process(view.active().folds, ProcessId(1), ProcessId(0), false);
  toggle_compact(view.active().folds);
  set_filter(view.active().folds, "o");
  add_note(view.active().notes, {5, 9});
  view.active().notes.notes[0].text = "here";
  return view;
}

}  // namespace

TEST_CASE("a saved view comes back whole") {
  const auto trace = two_processes();
  const KeptView kept = keep_view(*trace, changed(*trace).active());
  ViewState view = fresh(*trace);
  restore_view(kept, *trace, view.active());
  CHECK(keep_view(*trace, view.active()) == kept);
  CHECK(view.active().time.span == Span{100, 400});
  CHECK(view.active().selection == SliceId(2));
  CHECK(view.active().folds.lane_collapsed[0]);
  CHECK(view.active().folds.lane_hidden[1]);
  CHECK(view.active().folds.lane_pinned[2]);
  CHECK(view.active().folds.lane_order.front() == LaneId(2));
  CHECK(view.active().folds.process_order.front() == ProcessId(1));
}

TEST_CASE("lanes are found again by their names in a trace that numbers them otherwise") {
  const auto trace = two_processes();
  const auto other = two_processes(true);
  ViewState view = fresh(*other);
  restore_view(keep_view(*trace, changed(*trace).active()), *other, view.active());
  CHECK(view.active().folds.lane_collapsed == std::vector<bool>{false, true, false, false});
  CHECK(view.active().folds.lane_pinned[3]);
  CHECK(view.active().folds.lane_order.size() == 4);
  CHECK(view.active().folds.lane_order.back() == LaneId(0));
  REQUIRE(view.active().selection.valid());
  CHECK(other->name(view.active().selection) == "b");
  CHECK(other->begin(view.active().selection) == 300);
}

TEST_CASE("a slice that is no longer there is not selected") {
  const auto trace = two_processes();
  KeptView kept = keep_view(*trace, changed(*trace).active());
  kept.selection->span.end += 1;
  ViewState view = fresh(*trace);
  restore_view(kept, *trace, view.active());
  CHECK(!view.active().selection.valid());
}

TEST_CASE("a view that was not changed is the fresh one") {
  const auto trace = two_processes();
  CHECK(keep_view(*trace, fresh(*trace).active()) == fresh_view(*trace));
  CHECK(keep_view(*trace, changed(*trace).active()) != fresh_view(*trace));
  CHECK_FALSE(look_alike(keep_view(*trace, changed(*trace).active()), fresh_view(*trace)));
  ViewState put_first = fresh(*trace);  // as the account does
  move_lane(put_first.active().folds, put_first.active().folds.lane_order.back(), put_first.active().folds.lane_order.front(),
            /*after=*/false);
  const KeptView reordered = keep_view(*trace, put_first.active());
  CHECK(reordered != fresh_view(*trace));
  CHECK(look_alike(reordered, fresh_view(*trace)));
}
