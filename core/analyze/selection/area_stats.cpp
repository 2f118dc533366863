#include "core/analyze/selection/area_stats.h"

#include <map>

#include "core/base/saturating.h"
#include "core/base/span_set.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kCancelEvery = 1u << 16;  // slices between two looks at `cancel`

// One table that grows: rows by key.
class RowSums {
 public:
  explicit RowSums(std::size_t keys) : rows_(keys) {}

  void add(std::uint32_t key, Ns time) {
    AreaRow& row = rows_[key];
    row.min = row.count == 0 ? time : std::min(row.min, time);
    row.max = std::max(row.max, time);
    ++row.count;
    add_saturating(row.total, time);
    add_saturating(row.self, time);
  }
  void take_from(std::uint32_t key, Ns time) { rows_[key].self -= time; }

  std::vector<AreaRow> rows() const {
    std::vector<AreaRow> out;
    for (std::size_t key = 0; key < rows_.size(); ++key) {
      if (rows_[key].count == 0) continue;
      out.push_back(rows_[key]);
      out.back().key = static_cast<std::uint32_t>(key);
    }
    return out;
  }

 private:
  std::vector<AreaRow> rows_;
};

// Walks the rows of a lane from the outermost in. The parent of a slice is looked for in the rows above, with a cursor in
// each that only moves on: slices of a row come in order of begin.
class Summer {
 public:
  Summer(const Trace& trace, const LaneIndex& lanes, const Area& area)
      : t_(trace),
        index_(lanes),
        area_(area),
        names_(trace.strings.size()),
        categories_(trace.categories.size()),
        lanes_(trace.lanes.size()) {}

  bool run(const std::atomic<bool>* cancel) {
    for (const LaneId lane : area_.lanes) {
      for (std::uint32_t depth = 0; depth < t_.lane(lane).depth_count; ++depth)
        if (!add_row(lane, depth, cancel)) return false;
    }
    return true;
  }

  void finish(AreaStats& out) const {
    out.by_name = names_.rows();
    out.by_category = categories_.rows();
    out.by_lane = lanes_.rows();
    for (const AreaRow& row : out.by_lane) {
      out.slices += row.count;
      add_saturating(out.self, row.self);
    }
  }

 private:
  bool add_row(LaneId lane, std::uint32_t depth, const std::atomic<bool>* cancel) {
    const Lane& of = t_.lane(lane);
    const auto [first, last] = slices_touching(t_, t_.rows[of.first_row + depth], area_.span);
    if (first < last && !index_.is_deep(lane)) start_cursors(of, depth, t_.slices.begin[first]);
    for (std::uint32_t s = first; s < last; ++s) {
      if (s % kCancelEvery == 0 && cancel != nullptr && *cancel) return false;
      add(s, lane, of, depth);
    }
    return true;
  }

  // Behind the last slice of each row above that begins at or before `t`.
  void start_cursors(const Lane& lane, std::uint32_t depth, Ns t) {
    cursors_.resize(depth);
    for (std::uint32_t d = 0; d < depth; ++d) {
      const Row& row = t_.rows[lane.first_row + d];
      const auto from = t_.slices.begin.begin() + row.first;
      cursors_[d] = row.first + static_cast<std::uint32_t>(std::upper_bound(from, from + row.count, t) - from);
    }
  }

  void add(std::uint32_t s, LaneId lane, const Lane& of, std::uint32_t depth) {
    const Span span{t_.slices.begin[s], t_.slices.end[s]};
    const Ns time = intersect(span, area_.span).length();
    names_.add(t_.slices.name[s].value, time);
    categories_.add(t_.slices.category[s], time);
    lanes_.add(lane.value, time);
    const std::uint32_t parent =
        index_.is_deep(lane) ? index_.parent(SliceId(std::size_t{s})).value : parent_of(span, of, depth);
    if (parent == SliceId::kNone) return;
    names_.take_from(t_.slices.name[parent].value, time);
    categories_.take_from(t_.slices.category[parent], time);
    lanes_.take_from(lane.value, time);
  }

  // As LaneIndex::parent(): the innermost one above that encloses it whole.
  std::uint32_t parent_of(Span span, const Lane& lane, std::uint32_t depth) {
    for (std::uint32_t d = depth; d-- > 0;) {
      const Row& row = t_.rows[lane.first_row + d];
      std::uint32_t& at = cursors_[d];
      const std::uint32_t stop = row.first + row.count;
      while (at < stop && t_.slices.begin[at] <= span.begin) ++at;
      if (at == row.first) continue;
      const Ns end = t_.slices.end[at - 1];
      if (end >= span.end && span.begin < end) return at - 1;
    }
    return SliceId::kNone;
  }

  const Trace& t_;
  const LaneIndex& index_;
  const Area& area_;
  RowSums names_, categories_, lanes_;
  std::vector<std::uint32_t> cursors_;  // by depth
};

struct Device {
  LaneId lane;
  std::vector<SpanSet> rows;
};

SpanSet busy_of_row(const Trace& trace, const Row& row, Span area) {
  SpanSet busy;
  const auto [first, last] = slices_touching(trace, row, area);
  for (std::uint32_t s = first; s < last; ++s) {
    const Span part = intersect({trace.slices.begin[s], trace.slices.end[s]}, area);
    if (!part.empty() && is_gpu_work(trace.kind(SliceId(s)))) append(busy, part);
  }
  return busy;
}

bool is_gpu_lane(const Trace& trace, LaneId lane) { return trace.lane(lane).kind == LaneKind::gpu_stream; }

// By process: Kineto writes a process for each GPU.
std::map<ProcessId, Device> devices_in(const Trace& trace, const std::vector<LaneId>& lanes, Span span) {
  std::map<ProcessId, Device> devices;
  for (const LaneId id : lanes) {
    if (!is_gpu_lane(trace, id)) continue;
    const Lane& lane = trace.lane(id);
    Device& device = devices[lane.process];
    if (!device.lane) device.lane = id;
    for (std::uint32_t d = 0; d < lane.depth_count; ++d)
      device.rows.push_back(busy_of_row(trace, trace.rows[lane.first_row + d], span));
  }
  return devices;
}

AreaGpu gpu_in(const Trace& trace, const Area& area) {
  AreaGpu gpu;
  for (const LaneId lane : area.lanes) gpu.in_area = gpu.in_area || is_gpu_lane(trace, lane);
  auto devices = devices_in(trace, gpu.in_area ? area.lanes : whole_area(trace).lanes, area.span);
  for (auto& [process, device] : devices) {
    ++gpu.devices;
    const SpanSet busy = unite(std::move(device.rows));
    gpu.busy += length(busy);
    for (const Span gap : subtract({area.span}, busy)) {
      ++gpu.gaps;
      gpu.idle += gap.length();
      if (gap.length() <= gpu.longest.length()) continue;
      gpu.longest = gap;
      gpu.longest_lane = device.lane;
    }
  }
  return gpu;
}

}  // namespace

std::optional<AreaStats> area_stats(const Trace& trace, const LaneIndex& lanes, const Area& area,
                                    const std::atomic<bool>* cancel) {
  Summer summer(trace, lanes, area);
  if (!summer.run(cancel)) return std::nullopt;
  AreaStats stats;
  stats.area = area;
  summer.finish(stats);
  if (!area.span.empty()) stats.gpu = gpu_in(trace, area);
  return stats;
}

}  // namespace gapscope
