#include "core/view/timeline/lane_layout.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr float kCompactDepth = 7;            // px at scale 1
constexpr std::uint32_t kFewOverlapping = 3;  // rows of kernels that still have room for labels
constexpr float kLeastSpans = 2;              // px of a level of spans

bool passes_filter(const LaneFolds& folds, const Lane& lane) {
  return folds.filter.empty() || contains_ignore_case(lane.title, folds.filter);
}

// The lane's own streams as one, where it is the first of them and they are wanted so.
const Arrangements::GraphStreams* streams_of(const LaneFolds& folds, const Lane& lane, const Arrangements* arrangements) {
  if (!arrangements || !folds.graph_streams_together[lane.process.index()]) return nullptr;
  const Arrangements::GraphStreams& streams = arrangements->graph_streams[lane.process.index()];
  return streams.together ? &streams : nullptr;
}

bool is_one_of(const std::vector<LaneId>& lanes, LaneId lane) {
  return std::find(lanes.begin(), lanes.end(), lane) != lanes.end();
}

// Of a thread whose Python is opened by itself: the depths above its steps, where they hold Python frames alone. "<module>" and
// what calls the step are the same all the time, and what is between the steps is the profiler's.
std::uint32_t depths_above_steps(const Trace& trace, LaneId lane) {
  constexpr std::uint32_t kMostLookedAt = 4096;  // slices; it is asked whenever lanes are laid out
  std::uint32_t looked_at = 0;
  for (std::uint32_t depth = 0; depth < trace.lane(lane).depth_count; ++depth) {
    const Row& row = trace.row(trace.row_id(lane, depth));
    if ((looked_at += row.count) > kMostLookedAt) return 0;
    bool has_step = false, has_other = false;
    for (std::uint32_t i = row.first; i < row.first + row.count; ++i) {
      const SliceId slice{std::size_t{i}};
      if (trace.kind(slice) == Kind::python) continue;
      has_step |= trace.name(slice).starts_with("ProfilerStep#");
      has_other = true;
    }
    if (has_step) return depth;
    if (has_other) return 0;
  }
  return 0;
}

}  // namespace

LaneMetrics LaneMetrics::scaled(float scale) const {
  // Whole pixels, so that every depth looks alike.
  LaneMetrics m = *this;
  for (float* size : {&m.header, &m.depth, &m.slice, &m.head, &m.padding, &m.collapsed, &m.summary, &m.counter, &m.sparkline,
                      &m.more, &m.stream_head, &m.spans, &m.kernels, &m.overlapping, &m.crowded, &m.waits, &m.stream_padding})
    *size = std::max(1.0f, std::round(*size * scale));
  m.slice = std::min(m.slice, m.depth - 1);
  return m;
}

LaneMetrics LaneMetrics::compacted() const {
  LaneMetrics m = *this;
  m.depth = kCompactDepth;
  m.slice = kCompactDepth - 1;
  return m;
}

LaneMetrics LaneMetrics::with_low_streams() const {
  LaneMetrics m = *this;
  m.header = 20;
  m.more = 16;
  m.stream_head = 4;
  m.spans = 3;
  m.kernels = 17;
  m.overlapping = 9;
  m.crowded = 7;
  m.waits = 3;
  m.stream_padding = 0;
  return m;
}

LaneLayout::LaneLayout(const Trace& trace, const LaneFolds& folds, const LaneMetrics& metrics,
                       std::span<const ProcessId> counters, const Arrangements* arrangements)
    : metrics_(metrics), band_of_lane_(trace.lanes.size(), kNoBand) {
  if (!folds.filter.empty()) counters = {};
  const std::vector<Shown> shown = choose(trace, folds, counters);
  add_pinned(trace, folds, arrangements);
  // The GPUs that come first stand together, so that they can stay in sight; what else they have follows them.
  std::vector<ProcessId> order;
  for (const ProcessId process : folds.process_order)
    if (shown[process.index()].any()) order.push_back(process);
  std::size_t gpus = 0;
  while (gpus < order.size() && !shown[order[gpus].index()].streams.empty()) ++gpus;
  const auto header = [&](ProcessId process) { add_header(trace, folds, process, shown[process.index()], arrangements); };
  // GPUs share the room: the threads that feed them stand below the counters of all.
  std::size_t with_counters = 0;
  for (std::size_t i = 0; i < shown.size(); ++i) with_counters += trace.processes[i].is_gpu && !shown[i].counters.empty();
  const auto rest = [&](ProcessId process) {
    const std::size_t shared_by = trace.processes[process.index()].is_gpu ? std::max(with_counters, std::size_t{1}) : 1;
    add_rest(trace, folds, process, shown[process.index()], kCountersAtFirst / shared_by, arrangements);
  };
  for (std::size_t i = 0; i < gpus; ++i) header(order[i]);
  top_ = bands_.size();
  for (std::size_t i = 0; i < gpus; ++i) rest(order[i]);
  gpus_ = bands_.size();
  for (std::size_t i = gpus; i < order.size(); ++i) header(order[i]), rest(order[i]);
}

std::vector<LaneLayout::Shown> LaneLayout::choose(const Trace& trace, const LaneFolds& folds,
                                                  std::span<const ProcessId> counters) const {
  std::vector<Shown> shown(trace.processes.size());
  for (const LaneId id : folds.lane_order) {
    const Lane& lane = trace.lane(id);
    if (folds.lane_hidden[id.index()] || folds.lane_pinned[id.index()] || !passes_filter(folds, lane)) continue;
    Shown& of = shown[lane.process.index()];
    (folds.lane_role[id.index()] == LaneRole::other ? of.others : of.streams).push_back(id);
  }
  for (std::size_t i = 0; i < counters.size(); ++i) shown[counters[i].index()].counters.push_back(i);
  return shown;
}

void LaneLayout::add_pinned(const Trace& trace, const LaneFolds& folds, const Arrangements* arrangements) {
  for (const LaneId lane : folds.lane_order)
    if (folds.lane_pinned[lane.index()] && !folds.lane_hidden[lane.index()]) add_lane(trace, folds, lane, arrangements);
  pinned_ = bands_.size();
  for (Band& band : bands_) band.pinned = true;
}

// The header of a process, and its streams. Lanes of a folded one are found at the header.
void LaneLayout::add_header(const Trace& trace, const LaneFolds& folds, ProcessId process, const Shown& shown,
                            const Arrangements* arrangements) {
  const bool folded = folds.process_collapsed[process.index()];
  add_band({BandKind::process, folded, process, {}, 0, metrics_.header});
  if (!folded) return add_streams(trace, folds, process, shown.streams, arrangements);
  for (const std::vector<LaneId>* lanes : {&shown.streams, &shown.others})
    for (const LaneId lane : *lanes) band_of_lane_[lane.index()] = bands_.size() - 1;
}

void LaneLayout::add_streams(const Trace& trace, const LaneFolds& folds, ProcessId process, const std::vector<LaneId>& streams,
                             const Arrangements* arrangements) {
  std::vector<LaneId> behind;
  for (const LaneId lane : streams) {
    const bool is_behind = folds.lane_role[lane.index()] == LaneRole::stream_behind && folds.filter.empty();
    if (is_behind) behind.push_back(lane);
    if (!is_behind || folds.all_streams[process.index()]) add_lane(trace, folds, lane, arrangements);
  }
  if (behind.empty()) return;
  const bool open = folds.all_streams[process.index()];
  Band line{BandKind::more_streams, !open, process, {}, 0, metrics_.more};
  line.more = behind.size();
  add_band(line);
  for (const LaneId lane : behind)
    if (!open) band_of_lane_[lane.index()] = bands_.size() - 1;
}

// What a process shows besides its streams.
void LaneLayout::add_rest(const Trace& trace, const LaneFolds& folds, ProcessId process, const Shown& shown,
                          std::size_t counters_at_first, const Arrangements* arrangements) {
  if (folds.process_collapsed[process.index()]) return;
  add_counters(folds, process, shown.counters, counters_at_first);
  for (const LaneId lane : shown.others) add_lane(trace, folds, lane, arrangements);
}

void LaneLayout::add_counters(const LaneFolds& folds, ProcessId process, const std::vector<std::size_t>& counters,
                              std::size_t at_first) {
  const std::size_t own = counters.size();
  if (own == at_first + 1) at_first = own;  // the line would take the room of the one that it represents
  const bool open = folds.all_counters[process.index()];
  for (std::size_t i = 0; i < (open ? own : std::min(own, at_first)); ++i) {
    const bool collapsed = counters[i] < folds.counter_collapsed.size() && folds.counter_collapsed[counters[i]];
    add_band({BandKind::counter, collapsed, process, {}, 0, collapsed ? metrics_.sparkline : metrics_.counter, counters[i]});
  }
  if (own <= at_first) return;
  Band line{BandKind::more_counters, !open, process, {}, 0, metrics_.more};
  line.more = own - at_first;
  line.all_behind = at_first == 0;
  add_band(line);
}

void LaneLayout::add_lane(const Trace& trace, const LaneFolds& folds, LaneId id, const Arrangements* arrangements) {
  const Lane& lane = trace.lane(id);
  Band band{BandKind::lane, false, lane.process, id};
  band.stream = folds.lane_role[id.index()] != LaneRole::other;
  const Arrangements::GraphStreams* streams = streams_of(folds, lane, arrangements);
  if (streams && is_one_of(streams->lanes, id)) {
    const Band* host = nullptr;  // whichever of them is met first
    for (const LaneId other : streams->lanes) {
      const Band* met = band_of(other);
      if (!host && met && met->kind == BandKind::lane) host = met;
    }
    if (host) {
      band_of_lane_[id.index()] = static_cast<std::size_t>(host - bands_.data());
      return;
    }
    band.streams = streams;
    band.arranged = streams->together.get();
    band.spans = streams->spans.get();
  } else if (arrangements && band.stream) {
    band.arranged = arrangements->stream_rows[id.index()].work.get();
    band.spans = arrangements->stream_rows[id.index()].spans.get();
  } else if (arrangements && is_python_folded(folds, id)) {
    band.arranged = arrangements->without_python[id.index()].get();
  } else if (!band.stream && folds.python_folded && !is_python_folded(folds, id) && !folds.lane_collapsed[id.index()]) {
    band.above = depths_above_steps(trace, id);
  }
  band.depths = band.arranged ? band.arranged->depth_count() : lane.depth_count - band.above;
  band.collapsed = folds.lane_collapsed[id.index()] || band.depths == 0;
  const auto depths = static_cast<float>(band.depths);
  const float open = band.stream
                         ? metrics_.stream_head + depths * kernel_depth(band) + metrics_.waits + metrics_.stream_padding
                         : depths * metrics_.depth - (metrics_.depth - metrics_.slice) + metrics_.head + metrics_.padding;
  band.height = band.collapsed ? metrics_.collapsed : band.stream ? open : std::max(open, metrics_.collapsed);
  band_of_lane_[id.index()] = bands_.size();
  add_band(band);
}

// From one row of a stream's kernels to the next.
float LaneLayout::kernel_depth(const Band& band) const {
  return band.depths <= 1 ? metrics_.kernels : band.depths <= kFewOverlapping ? metrics_.overlapping : metrics_.crowded;
}

void LaneLayout::add_band(Band band) {
  band.y = height();
  bands_.push_back(band);
}

std::pair<std::size_t, std::size_t> LaneLayout::visible(float top, float bottom) const {
  const auto first = std::partition_point(bands_.begin(), bands_.end(), [top](const Band& b) { return b.bottom() <= top; });
  const auto last = std::partition_point(first, bands_.end(), [bottom](const Band& b) { return b.y < bottom; });
  return {static_cast<std::size_t>(first - bands_.begin()), static_cast<std::size_t>(last - bands_.begin())};
}

const Band* LaneLayout::band_of(LaneId lane) const {
  if (!lane.valid() || lane.index() >= band_of_lane_.size() || band_of_lane_[lane.index()] == kNoBand) return nullptr;
  return &bands_[band_of_lane_[lane.index()]];
}

LaneLayout::Strip LaneLayout::strip(const Band& band, std::uint32_t depth) const {
  if (band.collapsed || band.kind != BandKind::lane) {
    const float height = std::min(metrics_.summary, band.height);
    return {std::floor(band.y + (band.height - height) / 2), height};
  }
  if (band.stream) {
    const float each = kernel_depth(band);
    return {band.y + metrics_.stream_head + static_cast<float>(depth) * each, each - 1};
  }
  return {band.y + metrics_.head + static_cast<float>(depth) * metrics_.depth, metrics_.slice};
}

std::pair<std::uint32_t, std::uint32_t> LaneLayout::depths_in(const Band& band, float top, float bottom) const {
  const std::uint32_t depths = band.collapsed ? std::min(1u, band.depths) : band.depths;
  if (depths < 2) return {0, depths};
  const float y = strip(band, 0).y, each = strip(band, 1).y - y, most = static_cast<float>(depths);
  const float first = std::clamp(std::floor((top - y) / each), 0.0f, most);
  return {static_cast<std::uint32_t>(first),
          static_cast<std::uint32_t>(std::clamp(std::ceil((bottom - y) / each), first, most))};
}

LaneLayout::Strip LaneLayout::waits_strip(const Band& band) const {
  const Strip last = strip(band, band.collapsed || band.depths == 0 ? 0 : band.depths - 1);
  return {last.y + last.height, metrics_.waits};
}

LaneLayout::Strip LaneLayout::spans_strip(const Band& band, std::uint32_t level) const {
  const float levels =
      std::clamp(std::floor(metrics_.spans / kLeastSpans), 1.0f, static_cast<float>(std::max(1u, band.spans->depth_count())));
  const float each = std::floor(metrics_.spans / levels);
  const float at = std::min(static_cast<float>(level), levels - 1);
  return {band.y + metrics_.stream_head - metrics_.spans - 1 + at * each, each};
}

std::optional<LaneLayout::Place> LaneLayout::place_of(const Trace& trace, SliceId slice) const {
  const Band* band = slice.valid() ? band_of(trace.lane_id(slice)) : nullptr;
  if (!band) return std::nullopt;
  if (band->kind != BandKind::lane) return Place{band, 0, strip(*band, 0)};
  std::uint32_t depth = trace.depth(slice);
  if (band->arranged) {
    const std::optional<std::uint32_t> arranged = band->arranged->depth_of(slice, trace.begin(slice));
    if (!arranged && band->spans && !band->collapsed) {
      if (const std::optional<std::uint32_t> level = band->spans->depth_of(slice, trace.begin(slice)))
        return Place{band, *level, spans_strip(*band, *level)};
    }
    if (!arranged) return std::nullopt;
    depth = *arranged;
  }
  if (depth < band->above) return std::nullopt;
  depth -= band->above;
  return Place{band, depth, strip(*band, depth)};
}

}  // namespace gapscope
