#include "core/view/timeline/lane_folds.h"

#include <algorithm>
#include <utility>

namespace gapscope {
namespace {

bool holds_only_python(const Trace& trace, const Lane& lane) {
  for (std::uint32_t i = lane.first_slice; i < lane.first_slice + lane.slice_count; ++i)
    if (trace.kind(SliceId(i)) != Kind::python) return false;
  return lane.depth_count > 1;
}

// By LaneId: time of the GPU work on each stream; 0 elsewhere.
std::vector<Ns> work_of_streams(const Trace& trace) {
  std::vector<Ns> work(trace.lanes.size(), 0);
  for (std::size_t l = 0; l < trace.lanes.size(); ++l) {
    const Lane& lane = trace.lanes[l];
    if (lane.kind != LaneKind::gpu_stream) continue;
    for (std::uint32_t i = lane.first_slice; i < lane.first_slice + lane.slice_count; ++i)
      if (is_gpu_work(trace.kind(SliceId(i)))) work[l] += std::max<Ns>(1, trace.duration(SliceId(i)));
  }
  return work;
}

// By LaneId: calls that launch something, known by their names.
std::vector<std::size_t> launches_of_lanes(const Trace& trace) {
  enum class Known : std::uint8_t { no, launch, other };
  std::vector<Known> known(trace.strings.size(), Known::no);
  std::vector<std::size_t> launches(trace.lanes.size(), 0);
  for (const Call& call : trace.calls) {
    const StringId name = trace.name_id(call.slice);
    if (!name) continue;
    Known& is = known[name.index()];
    if (is == Known::no) is = trace.strings[name].find("Launch") != std::string_view::npos ? Known::launch : Known::other;
    if (is == Known::launch) ++launches[trace.lane_id(call.slice).index()];
  }
  return launches;
}

std::vector<LaneRole> roles_of_lanes(const Trace& trace) {
  const std::vector<Ns> work = work_of_streams(trace);
  std::vector<std::vector<LaneId>> streams(trace.processes.size());
  for (std::size_t l = 0; l < trace.lanes.size(); ++l)
    if (work[l] > 0) streams[trace.lanes[l].process.index()].emplace_back(l);
  std::vector<LaneRole> roles(trace.lanes.size(), LaneRole::other);
  for (std::vector<LaneId>& of_gpu : streams) {
    std::stable_sort(of_gpu.begin(), of_gpu.end(), [&](LaneId a, LaneId b) { return work[a.index()] > work[b.index()]; });
    for (std::size_t i = 0; i < of_gpu.size(); ++i)
      roles[of_gpu[i].index()] = i < kStreamsAtFirst ? LaneRole::stream : LaneRole::stream_behind;
  }
  return roles;
}

template <class Id>
std::vector<Id> all_in_order(std::size_t count) {
  std::vector<Id> order;
  for (std::size_t i = 0; i < count; ++i) order.emplace_back(i);
  return order;
}

void flip(std::vector<bool>& flags, std::size_t at, LaneFolds& folds) {
  flags[at] = !flags[at];
  ++folds.revision;
}

template <class Id>
void move_beside(std::vector<Id>& order, Id moved, Id other, bool after) {
  if (moved == other) return;
  std::erase(order, moved);
  auto at = std::find(order.begin(), order.end(), other);
  if (at != order.end() && after) ++at;
  order.insert(at, moved);
}

}  // namespace

void reset_folds(LaneFolds& folds, const Trace& trace) {
  folds.process_collapsed.assign(trace.processes.size(), false);
  folds.collapsed_alone.clear();
  folds.lane_collapsed.clear();
  for (const Lane& lane : trace.lanes) folds.lane_collapsed.push_back(holds_only_python(trace, lane));
  folds.lane_hidden.assign(trace.lanes.size(), false);
  folds.lane_pinned.assign(trace.lanes.size(), false);
  folds.graph_streams_together.assign(trace.processes.size(), false);
  folds.lane_role = roles_of_lanes(trace);
  folds.all_streams.assign(trace.processes.size(), false);
  folds.all_counters.assign(trace.processes.size(), false);
  folds.lane_order = all_in_order<LaneId>(trace.lanes.size());
  const std::vector<std::size_t> launches = launches_of_lanes(trace);
  std::stable_sort(folds.lane_order.begin(), folds.lane_order.end(),
                   [&](LaneId a, LaneId b) { return launches[a.index()] > launches[b.index()]; });
  folds.process_order.clear();
  std::vector<bool> listed(trace.processes.size());
  const auto list = [&](ProcessId process) {
    if (!listed[process.index()]) folds.process_order.push_back(process);
    listed[process.index()] = true;
  };
  for (std::size_t l = 0; l < trace.lanes.size(); ++l)
    if (folds.lane_role[l] != LaneRole::other) list(trace.lanes[l].process);
  for (const LaneId lane : folds.lane_order) list(trace.lane(lane).process);
  for (std::size_t p = 0; p < trace.processes.size(); ++p) list(ProcessId(p));
  folds.filter.clear();
  folds.python_open.clear();
  ++folds.revision;
}

void toggle_process(LaneFolds& folds, ProcessId process) { flip(folds.process_collapsed, process.index(), folds); }
void toggle_lane(LaneFolds& folds, LaneId lane) { flip(folds.lane_collapsed, lane.index(), folds); }
void toggle_counter(LaneFolds& folds, std::size_t counter) { flip(folds.counter_collapsed, counter, folds); }
void toggle_graph_streams(LaneFolds& folds, ProcessId process) { flip(folds.graph_streams_together, process.index(), folds); }

void toggle_all_streams(LaneFolds& folds, ProcessId process) { flip(folds.all_streams, process.index(), folds); }
void toggle_all_counters(LaneFolds& folds, ProcessId process) { flip(folds.all_counters, process.index(), folds); }

void toggle_python(LaneFolds& folds) {
  folds.python_folded = !folds.python_folded;
  folds.python_open.clear();
  ++folds.revision;
}

bool is_python_folded(const LaneFolds& folds, LaneId lane) {
  return folds.python_folded && (lane.index() >= folds.python_open.size() || !folds.python_open[lane.index()]);
}

void fold_python(LaneFolds& folds, LaneId lane, bool folded) {
  if (is_python_folded(folds, lane) == folded) return;
  folds.python_open.resize(std::max(folds.lane_collapsed.size(), lane.index() + 1), !folds.python_folded);
  folds.python_folded = true;
  folds.python_open[lane.index()] = !folded;
  ++folds.revision;
}

void toggle_compact(LaneFolds& folds) {
  folds.compact = !folds.compact;
  ++folds.revision;
}

void set_all_lanes(LaneFolds& folds, bool collapsed) {
  folds.counter_collapsed.assign(folds.counter_collapsed.size(), collapsed);
  folds.lane_collapsed.assign(folds.lane_collapsed.size(), collapsed);
  if (!collapsed) folds.process_collapsed.assign(folds.process_collapsed.size(), false);
  ++folds.revision;
}

void toggle_all_but_gpu(LaneFolds& folds, const Trace& trace) {
  std::vector<bool> others;
  for (const Lane& lane : trace.lanes) others.push_back(lane.kind != LaneKind::gpu_stream);
  if (folds.lane_collapsed == others) return set_all_lanes(folds, false);
  folds.lane_collapsed = std::move(others);
  folds.process_collapsed.assign(folds.process_collapsed.size(), false);
  ++folds.revision;
}

void unfold_lane(LaneFolds& folds, const Trace& trace, LaneId lane) {
  const std::size_t process = trace.lane(lane).process.index();
  const bool behind = folds.lane_role[lane.index()] == LaneRole::stream_behind && !folds.all_streams[process];
  const bool seen =
      !folds.lane_collapsed[lane.index()] && !folds.process_collapsed[process] && !folds.lane_hidden[lane.index()] && !behind;
  if (seen && folds.filter.empty()) return;
  folds.lane_collapsed[lane.index()] = false;
  folds.lane_hidden[lane.index()] = false;
  folds.process_collapsed[process] = false;
  if (behind) folds.all_streams[process] = true;
  folds.filter.clear();
  ++folds.revision;
}

void fold_for_comparison(LaneFolds& folds, const Trace& trace) {
  if (!folds.collapsed_alone.empty() || folds.process_collapsed.empty()) return;
  folds.collapsed_alone = folds.process_collapsed;
  std::vector<bool> works(trace.processes.size());
  for (std::size_t l = 0; l < trace.lanes.size(); ++l)
    if (folds.lane_role[l] != LaneRole::other) works[trace.lanes[l].process.index()] = true;
  if (std::find(works.begin(), works.end(), true) == works.end()) return;
  for (std::size_t p = 0; p < works.size(); ++p)
    if (!works[p]) folds.process_collapsed[p] = true;
  ++folds.revision;
}

void unfold_after_comparison(LaneFolds& folds) {
  if (folds.collapsed_alone.empty()) return;
  folds.process_collapsed = std::exchange(folds.collapsed_alone, {});
  ++folds.revision;
}

void set_pinned(LaneFolds& folds, LaneId lane, bool pinned) {
  if (folds.lane_pinned[lane.index()] != pinned) flip(folds.lane_pinned, lane.index(), folds);
}

void hide_lane(LaneFolds& folds, LaneId lane) {
  if (!folds.lane_hidden[lane.index()]) flip(folds.lane_hidden, lane.index(), folds);
}

void hide_process(LaneFolds& folds, const Trace& trace, ProcessId process) {
  for (std::size_t l = 0; l < trace.lanes.size(); ++l)
    if (trace.lanes[l].process == process) folds.lane_hidden[l] = true;
  ++folds.revision;
}

void show_hidden(LaneFolds& folds) {
  folds.lane_hidden.assign(folds.lane_hidden.size(), false);
  folds.filter.clear();
  ++folds.revision;
}

std::size_t hidden_count(const LaneFolds& folds) {
  return static_cast<std::size_t>(std::count(folds.lane_hidden.begin(), folds.lane_hidden.end(), true));
}

void set_filter(LaneFolds& folds, std::string filter) {
  if (folds.filter == filter) return;
  folds.filter = std::move(filter);
  ++folds.revision;
}

void move_lane(LaneFolds& folds, LaneId lane, LaneId other, bool after) {
  move_beside(folds.lane_order, lane, other, after);
  ++folds.revision;
}

void move_process(LaneFolds& folds, ProcessId process, ProcessId other, bool after) {
  move_beside(folds.process_order, process, other, after);
  ++folds.revision;
}

}  // namespace gapscope
