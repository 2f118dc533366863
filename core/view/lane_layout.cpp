#include "core/view/lane_layout.h"

#include <algorithm>
#include <cmath>

namespace gapscope {

namespace {

bool holds_only_python(const Trace& trace, const Lane& lane) {
  for (std::uint32_t depth = 0; depth < lane.depth_count; ++depth) {
    const Row& row = trace.rows[lane.first_row + depth];
    if (row.count == 0 || trace.kind(SliceId(row.first)) != Kind::python) return false;
  }
  return lane.depth_count > 1;
}

}  // namespace

LaneMetrics LaneMetrics::scaled(float scale) const {
  // Whole pixels, so that every depth looks alike.
  const auto px = [scale](float size) { return std::max(1.0f, std::round(size * scale)); };
  LaneMetrics m{px(header), px(depth), px(slice), px(head), px(padding), px(collapsed), px(summary), px(counter)};
  m.slice = std::min(m.slice, m.depth - 1);
  return m;
}

LaneLayout::LaneLayout(const Trace& trace, const LaneFolds& folds, const LaneMetrics& metrics,
                       std::span<const ProcessId> counters)
    : metrics_(metrics), band_of_lane_(trace.lanes.size(), kNoBand) {
  ProcessId process;
  std::vector<bool> has_lanes(trace.processes.size());
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    const Lane& lane = trace.lanes[i];
    if (folds.lane_hidden[i]) continue;
    const bool process_collapsed = folds.process_collapsed[lane.process.index()];
    if (lane.process != process) {
      process = lane.process;
      has_lanes[process.index()] = true;
      add_process(folds, process, counters);
    }
    band_of_lane_[i] = process_collapsed ? bands_.size() - 1 : bands_.size();  // folded: a header and no counters
    if (process_collapsed) continue;
    const bool collapsed = folds.lane_collapsed[i] || lane.depth_count == 0;
    const float open = static_cast<float>(lane.depth_count) * metrics_.depth - (metrics_.depth - metrics_.slice) +
                       metrics_.head + metrics_.padding;
    add_band({BandKind::lane, collapsed, process, LaneId(i), 0, collapsed ? metrics_.collapsed : open});
  }
  for (const ProcessId with_counters : counters) {
    if (has_lanes[with_counters.index()]) continue;
    has_lanes[with_counters.index()] = true;
    add_process(folds, with_counters, counters);
  }
}

// A header, and the counters below it.
void LaneLayout::add_process(const LaneFolds& folds, ProcessId process, std::span<const ProcessId> counters) {
  const bool folded = folds.process_collapsed[process.index()];
  add_band({BandKind::process, folded, process, {}, 0, metrics_.header});
  for (std::size_t i = 0; i < counters.size() && !folded; ++i) {
    if (counters[i] != process) continue;
    const bool collapsed = i < folds.counter_collapsed.size() && folds.counter_collapsed[i];
    add_band({BandKind::counter, collapsed, process, {}, 0, collapsed ? metrics_.collapsed : metrics_.counter, i});
  }
}

void LaneLayout::add_band(Band band) {
  band.y = height();
  bands_.push_back(band);
}

std::pair<std::size_t, std::size_t> LaneLayout::visible(float top, float bottom) const {
  const auto first =
      std::partition_point(bands_.begin(), bands_.end(), [top](const Band& b) { return b.bottom() <= top; });
  const auto last = std::partition_point(first, bands_.end(), [bottom](const Band& b) { return b.y < bottom; });
  return {static_cast<std::size_t>(first - bands_.begin()), static_cast<std::size_t>(last - bands_.begin())};
}

const Band* LaneLayout::band_of(LaneId lane) const {
  if (!lane.valid() || lane.index() >= band_of_lane_.size() || band_of_lane_[lane.index()] == kNoBand) return nullptr;
  return &bands_[band_of_lane_[lane.index()]];
}

LaneLayout::Strip LaneLayout::strip(const Band& band, std::uint32_t depth) const {
  if (band.collapsed || band.kind == BandKind::process) {
    return {std::floor(band.y + (band.height - metrics_.summary) / 2), metrics_.summary};
  }
  return {band.y + metrics_.head + static_cast<float>(depth) * metrics_.depth, metrics_.slice};
}

void reset_folds(LaneFolds& folds, const Trace& trace) {
  folds.process_collapsed.assign(trace.processes.size(), false);
  folds.lane_collapsed.clear();
  for (const Lane& lane : trace.lanes) folds.lane_collapsed.push_back(holds_only_python(trace, lane));
  folds.lane_hidden.assign(trace.lanes.size(), false);
  ++folds.revision;
}

void toggle_process(LaneFolds& folds, ProcessId process) {
  folds.process_collapsed[process.index()] = !folds.process_collapsed[process.index()];
  ++folds.revision;
}

void toggle_lane(LaneFolds& folds, LaneId lane) {
  folds.lane_collapsed[lane.index()] = !folds.lane_collapsed[lane.index()];
  ++folds.revision;
}

void toggle_counter(LaneFolds& folds, std::size_t counter) {
  folds.counter_collapsed[counter] = !folds.counter_collapsed[counter];
  ++folds.revision;
}

void set_all_lanes(LaneFolds& folds, bool collapsed) {
  folds.counter_collapsed.assign(folds.counter_collapsed.size(), collapsed);
  folds.lane_collapsed.assign(folds.lane_collapsed.size(), collapsed);
  if (!collapsed) folds.process_collapsed.assign(folds.process_collapsed.size(), false);
  ++folds.revision;
}

void unfold_lane(LaneFolds& folds, const Trace& trace, LaneId lane) {
  const std::size_t process = trace.lane(lane).process.index();
  if (!folds.lane_collapsed[lane.index()] && !folds.process_collapsed[process] && !folds.lane_hidden[lane.index()])
    return;
  folds.lane_collapsed[lane.index()] = false;
  folds.lane_hidden[lane.index()] = false;
  folds.process_collapsed[process] = false;
  ++folds.revision;
}

}  // namespace gapscope
