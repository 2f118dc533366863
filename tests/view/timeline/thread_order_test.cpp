#include "core/view/timeline/thread_order.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"
#include "tests/support/diagnosed.h"
#include "tests/support/real_traces.h"

using namespace gapscope;

namespace {

std::size_t place_of_lane(const LaneFolds& folds, LaneId lane) {
  return static_cast<std::size_t>(std::find(folds.lane_order.begin(), folds.lane_order.end(), lane) - folds.lane_order.begin());
}

}  // namespace

TEST_CASE("the thread that holds the GPU back is first, unless the user moved lanes") {
  const Document document(test::load_once(test::recording("transformer_baseline")));
  CHECK_FALSE(thread_that_holds_back(document).valid());  // nothing is known yet
  document.diagnose();
  const LaneId thread = thread_that_holds_back(document);
  REQUIRE(thread.valid());
  std::vector<Ns> ended(document.trace.lanes.size());
  const DeviceAccount& device = *account_of(document)->busiest();
  for (const DeviceGap& gap : device.gaps)
    if (gap.launch) ended[document.trace.lane_id(gap.launch).index()] += gap.span.length();
  CHECK(std::all_of(ended.begin(), ended.end(), [&](Ns time) { return time <= ended[thread.index()]; }));
  CHECK(ended[thread.index()] > device.times.idle_total() / 2);

  LaneFolds folds;
  reset_folds(folds, document.trace);
  put_thread_first(folds, document.trace, thread);
  CHECK(place_of_lane(folds, thread) == 0);
  reset_folds(folds, document.trace);
  const LaneId last = folds.lane_order.back();
  move_lane(folds, last, folds.lane_order.front(), /*after=*/false);
  const std::vector<LaneId> moved = folds.lane_order;
  put_thread_first(folds, document.trace, thread);
  CHECK(folds.lane_order == moved);
}

TEST_CASE("a gap whose cause is Python unfolds the frames, other gaps leave them folded") {
  const Document& document = test::diagnosed_once(test::recording("transformer_baseline")).document;
  REQUIRE(document.arrangements()->any_python);
  const DeviceAccount& device = *account_of(document)->busiest();
  for (const bool python : {false, true}) {
    ViewState view;
    reset_folds(view.active().folds, document.trace);
    for (std::size_t gap = 0; gap < device.gaps.size(); ++gap) {
      if ((device.gaps[gap].main == IdleCause::python) != python) continue;
      choose_gap(document, view.active(), view.window, device.device, gap, /*go_there=*/false);
      break;
    }
    const DeviceGap* gap = chosen_gap(document, view.active()).gap;
    REQUIRE(gap);
    REQUIRE(gap->launch);
    CHECK(is_python_folded(view.active().folds, document.trace.lane_id(gap->launch)) == !python);
    CHECK(view.active().folds.python_folded);  // that of all threads is the user's
  }
}
