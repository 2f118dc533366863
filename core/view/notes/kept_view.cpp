#include "core/view/notes/kept_view.h"

#include <algorithm>
#include <tuple>

#include "core/view/timeline/first_view.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {
namespace {

const std::string& process_key(const Trace& trace, const Lane& lane) { return trace.processes[lane.process.index()].key; }

LaneId find_lane(const Trace& trace, const std::string& process, const std::string& lane, bool is_async) {
  for (std::size_t l = 0; l < trace.lanes.size(); ++l) {
    const Lane& known = trace.lanes[l];
    if (known.key == lane && known.is_async == is_async && process_key(trace, known) == process) return LaneId(l);
  }
  return {};
}

ProcessId find_process(const Trace& trace, const std::string& key) {
  const auto at = std::find_if(trace.processes.begin(), trace.processes.end(), [&](const Process& p) { return p.key == key; });
  return at == trace.processes.end() ? ProcessId{} : ProcessId(static_cast<std::size_t>(at - trace.processes.begin()));
}

KeptSlice keep_slice(const Trace& trace, SliceId slice) {
  const Lane& lane = trace.lane(slice);
  return {process_key(trace, lane), lane.key, std::string(trace.name(slice)), lane.is_async, trace.span_of(slice)};
}

SliceId find_slice(const Trace& trace, const KeptSlice& kept) {
  const LaneId lane = find_lane(trace, kept.process, kept.lane, kept.is_async);
  if (!lane) return {};
  for (std::uint32_t depth = 0; depth < trace.lane(lane).depth_count; ++depth) {
    const Row& row = trace.row(trace.row_id(lane, depth));
    const auto first = trace.slices.begin.begin() + row.first;
    for (auto at = std::lower_bound(first, first + row.count, kept.span.begin);
         at != first + row.count && *at == kept.span.begin; ++at) {
      const SliceId slice(static_cast<std::size_t>(at - trace.slices.begin.begin()));
      if (trace.end(slice) == kept.span.end && trace.name(slice) == kept.name) return slice;
    }
  }
  return {};
}

// Known ones first, in their order; the rest as they were.
template <class Id>
void put_in_order(std::vector<Id>& order, const std::vector<Id>& known) {
  std::vector<Id> put = known;
  for (const Id id : order)
    if (std::find(known.begin(), known.end(), id) == known.end()) put.push_back(id);
  order = std::move(put);
}

void restore_lanes(const KeptView& kept, const Trace& trace, LaneFolds& folds) {
  std::vector<LaneId> order;
  for (const KeptLane& lane : kept.lanes) {
    const LaneId id = find_lane(trace, lane.process, lane.lane, lane.is_async);
    if (!id || std::find(order.begin(), order.end(), id) != order.end()) continue;
    order.push_back(id);
    folds.lane_collapsed[id.index()] = lane.collapsed;
    folds.lane_hidden[id.index()] = lane.hidden;
    folds.lane_pinned[id.index()] = lane.pinned;
  }
  put_in_order(folds.lane_order, order);
}

void restore_processes(const KeptView& kept, const Trace& trace, LaneFolds& folds) {
  std::vector<ProcessId> order;
  for (const KeptProcess& process : kept.processes) {
    const ProcessId id = find_process(trace, process.key);
    if (!id || std::find(order.begin(), order.end(), id) != order.end()) continue;
    order.push_back(id);
    folds.process_collapsed[id.index()] = process.collapsed;
    folds.graph_streams_together[id.index()] = process.streams_together;
  }
  put_in_order(folds.process_order, order);
}

}  // namespace

KeptView keep_view(const Trace& trace, const TraceView& view) {
  KeptView kept;
  kept.visible = view.move.active ? view.move.to.span : view.time.span;
  kept.scroll_px = view.scroll_px;
  kept.range = view.range;
  if (view.selection) kept.selection = keep_slice(trace, view.selection);
  const LaneFolds& folds = view.folds;
  const std::vector<bool>& alone = folds.collapsed_alone.empty() ? folds.process_collapsed : folds.collapsed_alone;
  for (const LaneId id : folds.lane_order) {
    const Lane& lane = trace.lane(id);
    kept.lanes.push_back({process_key(trace, lane), lane.key, lane.is_async, folds.lane_collapsed[id.index()],
                          folds.lane_hidden[id.index()], folds.lane_pinned[id.index()]});
  }
  for (const ProcessId id : folds.process_order)
    kept.processes.push_back({trace.processes[id.index()].key, alone[id.index()], folds.graph_streams_together[id.index()]});
  kept.filter = folds.filter;
  kept.steps = view.steps.annotation;
  kept.stated_steps = trace.stated.steps;
  if (trace.stated.step_time) kept.step_time = trace.stated.step_time->step;
  kept.python_folded = folds.python_folded;
  kept.compact = folds.compact;
  kept.notes = view.notes.notes;
  return kept;
}

KeptView fresh_view(const Trace& trace) {
  TraceView view;
  reset_folds(view.folds, trace);
  view.time = first_view(trace);
  KeptView fresh = keep_view(trace, view);
  fresh.stated_steps.clear();
  return fresh;
}

bool look_alike(KeptView a, KeptView b) {
  for (KeptView* view : {&a, &b}) {
    std::sort(view->lanes.begin(), view->lanes.end(), [](const KeptLane& x, const KeptLane& y) {
      return std::tie(x.process, x.lane, x.is_async) < std::tie(y.process, y.lane, y.is_async);
    });
    std::sort(view->processes.begin(), view->processes.end(),
              [](const KeptProcess& x, const KeptProcess& y) { return x.key < y.key; });
    view->tab.clear();
    view->notes.clear();
    view->step_time = 0;
    view->python_folded = view->compact = false;
  }
  return a == b;
}

void restore_view(const KeptView& kept, const Trace& trace, TraceView& view) {
  view.notes.notes = kept.notes;
  if (kept.visible.empty()) return;
  TimeView time;
  time.span = kept.visible;
  view.move.active = false;
  view.time = within_limits(time, trace.span);
  view.scroll_px = kept.scroll_px;
  view.range = kept.range;
  view.selection = kept.selection ? find_slice(trace, *kept.selection) : SliceId{};
  restore_lanes(kept, trace, view.folds);
  restore_processes(kept, trace, view.folds);
  view.folds.filter = kept.filter;
  view.steps.annotation = kept.steps;
  view.folds.python_folded = kept.python_folded;
  view.folds.compact = kept.compact;
  ++view.folds.revision;
}

}  // namespace gapscope
