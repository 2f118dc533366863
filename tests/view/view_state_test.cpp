#include "core/view/view_state.h"

#include <doctest/doctest.h>

using namespace gapscope;

namespace {

constexpr RowOrder kByThird{2, true};
const TableLook kLooked{"gemm", kByThird, 5, 4, 2};
const TableLook kKept{"", kByThird, 5, 4, 0};

TraceView looked_at() {
  TraceView view;
  view.time = TimeView{{10, 20}, 0.25, 0};
  view.scroll_px = 7;
  select_slice(view, SliceId(std::size_t{3}), /*reveal=*/true);
  view.signals.reveal_lane = LaneId(std::size_t{1});
  view.signals.reveal_finding = true;
  view.way_up = {SliceId(std::size_t{2})};
  view.range = Span{12, 14};
  view.run_reach = Span{0, 100};
  view.cycle = {"gemm", {SliceId(std::size_t{3})}};
  view.linked = LinkedAxis{};
  view.flows = {FlowShow::all, SliceId(std::size_t{3}), {}, {}, 4, 4, 2, 2};
  view.finding = {2, 1};
  view.gaps.chosen = ChosenGap{0, 1};
  view.search.typed.text = "gemm";
  view.notes.notes.push_back({});
  view.steps.annotation = "step";
  view.memory.device = 1;
  view.memory.with_before = true;
  view.roofline.module = "Linear_0";
  view.what_if.path = true;
  view.what_if.changes.gpu = 0.5;
  view.flame.zoom = 3;
  view.flame.order = PathOrder::time;
  view.table.selected = view.modules.selected = 1;
  view.compile.selected = 1;
  view.modules.list = ModuleList::classes;
  view.compile.list = CompileList::kernels;
  view.area.table = AreaTable::lane;
  view.area.area = Area{{12, 14}, {}};
  for (TableLook* look : {&view.table.look, &view.kernels.look, &view.modules.look, &view.area.look, &view.memory.look,
                          &view.counters, &view.roofline.look, &view.gaps.look, &view.list.look})
    *look = kLooked;
  view.folds.lane_hidden = {true};
  view.folds.filter = "stream";
  view.folds.python_folded = false;
  view.folds.compact = true;
  view.folds.revision = 9;
  return view;
}

}  // namespace

TEST_CASE("in another document nothing is left of what was selected, marked, typed or noted in the last one") {
  const TraceView next = view_of_next(looked_at());
  CHECK(next.time.span == TimeView{}.span);
  CHECK(next.scroll_px == 0);
  CHECK_FALSE(next.selection);
  CHECK_FALSE(next.signals.reveal_selection);
  CHECK_FALSE(next.signals.reveal_lane);
  CHECK_FALSE(next.signals.reveal_finding);
  CHECK(next.way_up.empty());
  CHECK_FALSE(next.range);
  CHECK_FALSE(next.run_reach);
  CHECK(next.cycle.slices.empty());
  CHECK_FALSE(next.linked);
  CHECK_FALSE(next.flows.of);
  CHECK(next.flows.drawn + next.flows.in_sight + next.flows.of_selection + next.flows.of_selection_drawn == 0);
  CHECK(next.finding.chosen == -1);
  CHECK_FALSE(next.gaps.chosen);
  CHECK(next.search.typed.text.empty());
  CHECK(next.notes.notes.empty());
  CHECK(next.steps.annotation.empty());
  CHECK(next.memory.device == 0);
  CHECK(next.roofline.module.empty());
  CHECK(next.what_if.changes.empty());
  CHECK(next.flame.zoom == 0);
  CHECK(next.table.selected == -1);
  CHECK(next.modules.selected == -1);
  CHECK(next.compile.selected == -1);
  CHECK_FALSE(next.area.area);
  CHECK(next.gaps.look == TableLook{});
  CHECK(next.list.look == TableLook{});
  CHECK(next.folds.lane_hidden.empty());
  CHECK(next.folds.filter.empty());
}

TEST_CASE("how tables and lanes are looked at is the same in another document: order and columns, without the filter") {
  const TraceView next = view_of_next(looked_at());
  for (const TableLook* look : {&next.table.look, &next.kernels.look, &next.modules.look, &next.area.look, &next.memory.look,
                                &next.counters, &next.roofline.look})
    CHECK(*look == kKept);
  CHECK(next.flows.show == FlowShow::all);
  CHECK(next.modules.list == ModuleList::classes);
  CHECK(next.compile.list == CompileList::kernels);
  CHECK(next.area.table == AreaTable::lane);
  CHECK(next.flame.order == PathOrder::time);
  CHECK(next.memory.with_before);
  CHECK(next.what_if.path);
  CHECK_FALSE(next.folds.python_folded);
  CHECK(next.folds.compact);
  CHECK(next.folds.revision > 9);  // no layout of the last one holds
  CHECK(next.selections == 1);     // the details do not come up for a document
}
