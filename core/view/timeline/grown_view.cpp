#include "core/view/timeline/grown_view.h"

#include <algorithm>

#include "core/view/timeline/first_view.h"
#include "core/view/timeline/lane_layout.h"

namespace gapscope {
namespace {

ProcessId same_process(const Trace& from, ProcessId process, const Trace& to) {
  const std::string& key = from.processes[process.index()].key;
  const auto at = std::find_if(to.processes.begin(), to.processes.end(), [&](const Process& p) { return p.key == key; });
  return at == to.processes.end() ? ProcessId{} : ProcessId(static_cast<std::size_t>(at - to.processes.begin()));
}

// What a person folded stays folded and what is open stays open; lanes that are new begin as in any document.
LaneFolds grown_folds(const LaneFolds& folds, const Trace& from, const Trace& to) {
  LaneFolds grown = folds;
  reset_folds(grown, to);
  set_filter(grown, folds.filter);
  for (std::size_t p = 0; p < from.processes.size(); ++p) {
    if (const ProcessId same = same_process(from, ProcessId(p), to)) {
      grown.process_collapsed[same.index()] = folds.process_collapsed[p];
      grown.all_streams[same.index()] = folds.all_streams[p];
      grown.all_counters[same.index()] = folds.all_counters[p];
    }
  }
  for (std::size_t l = 0; l < from.lanes.size(); ++l) {
    const LaneId same = same_lane(from, LaneId(l), to);
    if (!same) continue;
    grown.lane_collapsed[same.index()] = folds.lane_collapsed[l];
    grown.lane_hidden[same.index()] = folds.lane_hidden[l];
    grown.lane_pinned[same.index()] = folds.lane_pinned[l];
  }
  return grown;
}

std::optional<Area> grown_area(const std::optional<Area>& area, const Trace& from, const Trace& to) {
  if (!area) return std::nullopt;
  Area grown{area->span, {}};
  for (const LaneId lane : area->lanes) {
    if (const LaneId same = same_lane(from, lane, to)) grown.lanes.push_back(same);
  }
  std::sort(grown.lanes.begin(), grown.lanes.end());
  return grown;
}

}  // namespace

LaneId same_lane(const Trace& from, LaneId lane, const Trace& to) {
  const Lane& known = from.lane(lane);
  const std::string& process = from.processes[known.process.index()].key;
  const auto at = std::find_if(to.lanes.begin(), to.lanes.end(), [&](const Lane& l) {
    return l.key == known.key && l.is_async == known.is_async && to.processes[l.process.index()].key == process;
  });
  return at == to.lanes.end() ? LaneId{} : LaneId(static_cast<std::size_t>(at - to.lanes.begin()));
}

SliceId same_slice(const Trace& from, SliceId slice, const Trace& to) {
  if (!slice) return {};
  const LaneId lane = same_lane(from, from.lane_id(slice), to);
  if (!lane) return {};
  const Ns begin = from.begin(slice);
  const std::uint64_t offset = from.slices.offset[slice.index()];
  for (std::uint32_t depth = 0; depth < to.lane(lane).depth_count; ++depth) {
    const Row& row = to.row(to.row_id(lane, depth));
    const auto first = to.slices.begin.begin() + row.first;
    auto at = std::lower_bound(first, first + row.count, begin);
    for (; at != first + row.count && *at == begin; ++at) {
      const auto found = static_cast<std::size_t>(at - to.slices.begin.begin());
      if (to.slices.offset[found] == offset) return SliceId(found);
    }
  }
  return {};
}

// Ids of slices and lanes mean nothing any more; places on the axis do.
void grow_view(TraceView& view, const Trace& from, const Trace& to) {
  TraceView grown = view_of_next(view);
  grown.time = view.time.span == first_view(from).span ? first_view(to) : view.time;
  grown.move = view.move;
  grown.scroll_px = view.scroll_px;
  grown.history = view.history;
  grown.linked = view.linked;
  grown.selection = same_slice(from, view.selection, to);
  grown.range = view.range;
  grown.area.area = grown_area(view.area.area, from, to);
  grown.folds = grown_folds(view.folds, from, to);
  view = std::move(grown);
}

}  // namespace gapscope
