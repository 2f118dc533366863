#include "core/view/timeline/thread_order.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"

namespace gapscope {

LaneId thread_that_holds_back(const Document& document) {
  const TimeAccount* account = account_of(document);
  if (!account) return {};
  std::vector<Ns> held(document.trace.lanes.size());
  for (const DeviceAccount& device : account->devices())
    for (const DeviceGap& gap : device.gaps)
      if (gap.launch) held[document.trace.lane_id(gap.launch).index()] += gap.span.length();
  const auto most = std::max_element(held.begin(), held.end());
  return most == held.end() || *most == 0 ? LaneId{} : LaneId(static_cast<std::size_t>(most - held.begin()));
}

bool waits_for_python(const Document& document) {
  const TimeAccount* account = account_of(document);
  const DeviceAccount* device = account ? account->busiest() : nullptr;
  if (!device) return false;
  const auto& idle = device->times.idle;
  return std::max_element(std::begin(idle), std::end(idle)) == std::begin(idle) + index_of(IdleCause::python) &&
         device->times.idle_total() > device->times.compute;
}

void put_thread_first(LaneFolds& folds, const Trace& trace, LaneId thread) {
  LaneFolds made;
  reset_folds(made, trace);
  if (made.lane_order != folds.lane_order || made.process_order != folds.process_order) return;
  const auto at = std::find(folds.lane_order.begin(), folds.lane_order.end(), thread);
  std::rotate(folds.lane_order.begin(), at, at + 1);
  const ProcessId process = trace.lane(thread).process;
  std::vector<bool> has_stream(trace.processes.size());
  for (std::size_t l = 0; l < trace.lanes.size(); ++l)
    if (folds.lane_role[l] != LaneRole::other) has_stream[trace.lanes[l].process.index()] = true;
  const auto own = std::find(folds.process_order.begin(), folds.process_order.end(), process);
  const auto first = std::find_if_not(folds.process_order.begin(), folds.process_order.end(),
                                      [&](ProcessId p) { return has_stream[p.index()]; });
  if (first < own) std::rotate(first, own, own + 1);
  ++folds.revision;
}

}  // namespace gapscope
