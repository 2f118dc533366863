#include "core/view/lane_layout.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr float kCompactDepth = 7;  // px at scale 1

bool passes_filter(const LaneFolds& folds, const Lane& lane) { return folds.filter.empty() || contains_ignore_case(lane.title, folds.filter); }

// The lane's own streams as one, where it is the first of them and they are wanted so.
const Arrangements::GraphStreams* streams_of(const LaneFolds& folds, const Lane& lane, const Arrangements* arrangements) {
  if (!arrangements || !folds.graph_streams_together[lane.process.index()]) return nullptr;
  const Arrangements::GraphStreams& streams = arrangements->graph_streams[lane.process.index()];
  return streams.together ? &streams : nullptr;
}

bool is_one_of(const std::vector<LaneId>& lanes, LaneId lane) { return std::find(lanes.begin(), lanes.end(), lane) != lanes.end(); }

}  // namespace

LaneMetrics LaneMetrics::scaled(float scale) const {
  // Whole pixels, so that every depth looks alike.
  const auto px = [scale](float size) { return std::max(1.0f, std::round(size * scale)); };
  LaneMetrics m{px(header), px(depth), px(slice), px(head), px(padding), px(collapsed), px(summary), px(counter)};
  m.slice = std::min(m.slice, m.depth - 1);
  return m;
}

LaneMetrics LaneMetrics::compacted() const {
  LaneMetrics m = *this;
  m.depth = kCompactDepth;
  m.slice = kCompactDepth - 1;
  return m;
}

LaneLayout::LaneLayout(const Trace& trace, const LaneFolds& folds, const LaneMetrics& metrics, std::span<const ProcessId> counters,
                       const Arrangements* arrangements)
    : metrics_(metrics), band_of_lane_(trace.lanes.size(), kNoBand) {
  std::vector<std::vector<LaneId>> lanes_of(trace.processes.size());
  for (const LaneId id : folds.lane_order) {
    const Lane& lane = trace.lane(id);
    if (!folds.lane_hidden[id.index()] && !folds.lane_pinned[id.index()] && passes_filter(folds, lane)) lanes_of[lane.process.index()].push_back(id);
  }
  add_pinned(trace, folds, arrangements);
  for (const ProcessId process : folds.process_order) {
    const bool has_counters = std::find(counters.begin(), counters.end(), process) != counters.end() && folds.filter.empty();
    const std::vector<LaneId>& lanes = lanes_of[process.index()];
    if (lanes.empty() && !has_counters) continue;
    const std::size_t header = bands_.size();
    add_process(folds, process, folds.filter.empty() ? counters : std::span<const ProcessId>{});
    for (const LaneId lane : lanes) {
      if (folds.process_collapsed[process.index()])
        band_of_lane_[lane.index()] = header;
      else
        add_lane(trace, folds, lane, arrangements);
    }
  }
}

void LaneLayout::add_pinned(const Trace& trace, const LaneFolds& folds, const Arrangements* arrangements) {
  for (const LaneId lane : folds.lane_order)
    if (folds.lane_pinned[lane.index()] && !folds.lane_hidden[lane.index()]) add_lane(trace, folds, lane, arrangements);
  pinned_ = bands_.size();
  for (Band& band : bands_) band.pinned = true;
}

void LaneLayout::add_lane(const Trace& trace, const LaneFolds& folds, LaneId id, const Arrangements* arrangements) {
  const Lane& lane = trace.lane(id);
  Band band{BandKind::lane, false, lane.process, id};
  const Arrangements::GraphStreams* streams = streams_of(folds, lane, arrangements);
  if (streams && is_one_of(streams->lanes, id)) {
    const Band* host = nullptr;  // whichever of them is met first
    for (const LaneId other : streams->lanes) host = host ? host : band_of(other);
    if (host) {
      band_of_lane_[id.index()] = static_cast<std::size_t>(host - bands_.data());
      return;
    }
    band.streams = streams;
    band.arranged = streams->together.get();
  } else if (arrangements && folds.python_folded) {
    band.arranged = arrangements->without_python[id.index()].get();
  }
  band.depths = band.arranged ? band.arranged->depth_count() : lane.depth_count;
  band.collapsed = folds.lane_collapsed[id.index()] || band.depths == 0;
  const float open =
      static_cast<float>(band.depths) * metrics_.depth - (metrics_.depth - metrics_.slice) + metrics_.head + metrics_.padding;
  band.height = band.collapsed ? metrics_.collapsed : std::max(open, metrics_.collapsed);
  band_of_lane_[id.index()] = bands_.size();
  add_band(band);
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

std::optional<LaneLayout::Place> LaneLayout::place_of(const Trace& trace, SliceId slice) const {
  const Band* band = slice.valid() ? band_of(trace.lane_id(slice)) : nullptr;
  if (!band) return std::nullopt;
  std::uint32_t depth = trace.depth(slice);
  if (band->arranged) {
    const std::optional<std::uint32_t> arranged = band->arranged->depth_of(slice, trace.begin(slice));
    if (!arranged) return std::nullopt;
    depth = *arranged;
  }
  return Place{band, depth, strip(*band, depth)};
}

}  // namespace gapscope
