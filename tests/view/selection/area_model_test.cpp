#include "core/view/selection/area_model.h"

#include <doctest/doctest.h>

#include "core/base/table/output.h"
#include "core/view/findings/findings_model.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/hand_trace.h"
#include "tests/support/table_columns.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::shared_ptr<Trace> three_lanes() {
  return hand_trace({{"python", "thread 1", LaneKind::cpu_thread, {{{"a", 0, 100}}, {{"b", 10, 20}}}},
                     {"python", "thread 2", LaneKind::cpu_thread, {{{"c", 0, 50}}}},
                     {"GPU 0", "stream 7", LaneKind::gpu_stream, {{{"k", 20, 30, Kind::kernel}}}}});
}

constexpr LaneId k0{0}, k1{1}, k2{2};

struct Laid {
  std::shared_ptr<Trace> trace = three_lanes();
  LaneFolds folds;
  LaneLayout layout;
  Laid() {
    reset_folds(folds, *trace);
    layout = LaneLayout(*trace, folds, LaneMetrics{});
  }
  float middle(LaneId lane) const {
    const Band* band = layout.band_of(lane);
    return band->y + band->height / 2;
  }
  float header() const { return layout.band_of(k2)->bottom() + 3; }  // of the process below the GPU
  std::vector<LaneId> between(float a, float b) const { return lanes_between(layout, a, b); }
};

using Lanes = std::vector<LaneId>;

SliceRect rect(int x0, int x1, float y, Span span) { return {x0, x1, y, 19, {}, SliceId(0), 1, span}; }

}  // namespace

TEST_CASE("an area holds the lanes that a drag touches, in both directions") {
  const Laid laid;
  CHECK(laid.between(laid.middle(k0), laid.middle(k0)) == Lanes{k0});
  CHECK(laid.between(laid.middle(k1), laid.middle(k0)) == Lanes{k0, k1});
}

TEST_CASE("a process header that a drag crosses brings in no lane that it does not cross, folded or not") {
  Laid laid;
  CHECK(laid.between(laid.header(), laid.header()).empty());
  CHECK(laid.between(laid.middle(k2), laid.header()) == Lanes{k2});
  CHECK(laid.between(laid.header(), laid.middle(k0)) == Lanes{k0});
  laid.folds.process_collapsed[laid.trace->lanes[0].process.index()] = true;
  laid.layout = LaneLayout(*laid.trace, laid.folds, LaneMetrics{});
  CHECK(laid.between(laid.header(), laid.header()).empty());
}

TEST_CASE("hidden lanes are not in an area") {
  Laid laid;
  laid.folds.lane_hidden[0] = true;
  laid.layout = LaneLayout(*laid.trace, laid.folds, LaneMetrics{});
  CHECK(laid.between(laid.header(), laid.middle(k1)) == Lanes{k1});
}

TEST_CASE("the edge of an area snaps to the nearest slice edge within reach, between its top and bottom") {
  const TimeView time{{0, 1000}, 0, 0};  // a nanosecond a pixel
  const std::vector<SliceRect> rects{rect(100, 200, 0, {100, 200}), rect(205, 207, 0, {205, 207}),
                                     rect(300, 400, 40, {300, 400})};
  const auto snap = [&](Ns t) { return snapped(t, time, 1000, rects, 0, 20, 6); };
  CHECK(snap(104) == 100);
  CHECK(snap(97) == 100);
  CHECK(snap(196) == 200);
  CHECK(snap(107) == 107);  // too far
  CHECK(snap(206) == 206);  // within reach of the second, which is too narrow to distinguish its edges
  CHECK(snap(302) == 302);  // on another lane
}

TEST_CASE("a folded run has no edges to snap to") {
  SliceRect run = rect(100, 200, 0, {100, 200});
  run.count = 2;
  CHECK(snapped(101, {{0, 1000}, 0, 0}, 1000, {run}, 0, 20, 6) == 101);
}

TEST_CASE("an area is what tables are restricted to, until another range is") {
  const Laid laid;
  ViewState view;
  mark_area(view.active(), {{10, 30}, {k1}});
  CHECK(view.active().range == Span{10, 30});
  REQUIRE(marked_area(view.active()));
  view.active().range = Span{0, 5};  // dragged in the ruler
  CHECK(marked_area(view.active()) == nullptr);
  CHECK(shown_area(*laid.trace, view.active()) == Area{{0, 5}, {k0, k1, k2}});
  clear_area(view.active());
  CHECK_FALSE(shown_area(*laid.trace, view.active()).has_value());
}

TEST_CASE("an area without time is not marked") {
  ViewState view;
  mark_area(view.active(), {{10, 10}, {k0}});
  CHECK_FALSE(view.active().range.has_value());
}

TEST_CASE("the selected slice and all that is visible of its lane can be marked") {
  const Laid laid;
  ViewState view;
  view.active().time.span = {5, 60};
  mark_everything(*laid.trace, view.active());
  CHECK(*marked_area(view.active()) == whole_area(*laid.trace));
  view.active().selection = SliceId(1);
  mark_selection(*laid.trace, view.active());
  CHECK(*marked_area(view.active()) == Area{{10, 20}, {k0}});
  mark_everything(*laid.trace, view.active());
  CHECK(*marked_area(view.active()) == Area{{5, 60}, {k0}});
}

TEST_CASE("rows are filtered, sorted and written as CSV") {
  const Laid laid;
  const AreaStats stats = *area_stats(*laid.trace, LaneIndex(*laid.trace), {{15, 40}, {k0, k1, k2}});
  const AreaRows names = area_rows({*laid.trace, stats, AreaTable::name}),
                 lanes = area_rows({*laid.trace, stats, AreaTable::lane});
  CHECK(csv_of(names, arrange(names, {{}, by(names, "self", false)}), CsvHeads::titles_with_units) ==
        "Name,Count,Total (ns),Self (ns),Mean (ns),Min (ns),Max (ns)\n"
        "b,1,5,5,5,5,5\nk,1,10,10,10,10,10\na,1,25,20,25,25,25\nc,1,25,25,25,25,25\n");
  CHECK(arrange(lanes, {"STREAM"}).size() == 1);
  CHECK(row_name(*laid.trace, AreaTable::lane, stats.by_lane[1]) == "python / thread 2");
}

TEST_CASE("a row walks its slices inside the area") {
  const auto doc = document_from_text(kOneLaunch);
  const Span all = doc->trace.span;
  const Area area{{all.begin, all.begin + 201'000}, whole_area(doc->trace).lanes};
  const AreaStats stats = *area_stats(doc->trace, doc->lanes, area);
  for (const AreaTable table : {AreaTable::name, AreaTable::category, AreaTable::lane, AreaTable::annotation})
    for (const AreaRow& row : rows_of(stats, table)) {
      const auto slices = slices_of_row(*doc, area, table, row);
      CHECK(slices.size() == row.count);
      for (const SliceId s : slices) CHECK(touches(doc->trace.span_of(s), area.span));
    }
}
