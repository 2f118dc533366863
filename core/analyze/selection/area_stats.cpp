#include "core/analyze/selection/area_stats.h"

#include <map>

#include "core/base/saturating.h"
#include "core/base/span_set.h"
#include "core/index/parent_walk.h"

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

class Summer {
 public:
  Summer(const Trace& trace, const LaneIndex& lanes, const Area& area)
      : t_(trace),
        index_(lanes),
        area_(area),
        names_(trace.strings.size()),
        annotations_(trace.strings.size()),
        categories_(trace.categories.size()),
        lanes_(trace.lanes.size()) {}

  bool run(const std::atomic<bool>* cancel) {
    for (const LaneId lane : area_.lanes) {
      bool stop = false;
      walk_with_parents(t_, index_, lane, area_.span, parts_of(lane), [&](SliceId s, SliceId parent, Ns taken) {
        if (s.value % kCancelEvery == 0) stop = stop || (cancel != nullptr && *cancel);
        if (!stop) add(s, lane, parent, taken);
      });
      if (stop) return false;
    }
    return true;
  }

  void finish(AreaStats& out) const {
    out.by_name = names_.rows();
    out.by_category = categories_.rows();
    out.by_lane = lanes_.rows();
    out.by_annotation = annotations_.rows();
    for (const AreaRow& row : out.by_annotation) out.annotations += row.count;
    for (const AreaRow& row : out.by_lane) {
      out.slices += row.count;
      add_saturating(out.self, row.self);
    }
  }

 private:
  std::vector<RowPart> parts_of(LaneId lane) const {
    const Lane& of = t_.lane(lane);
    std::vector<RowPart> parts;
    for (std::uint32_t depth = 0; depth < of.depth_count; ++depth) {
      const auto [first, last] = slices_touching(t_, t_.rows[of.first_row + depth], area_.span);
      parts.push_back({first, last});
    }
    return parts;
  }

  void add(SliceId s, LaneId lane, SliceId parent, Ns taken) {
    each_key(s, lane,
             [time = intersect(t_.span_of(s), area_.span).length()](RowSums& rows, std::uint32_t key) { rows.add(key, time); });
    if (parent) each_key(parent, lane, [taken](RowSums& rows, std::uint32_t key) { rows.take_from(key, taken); });
  }

  // Calls do(table, key) for each table that the slice counts in.
  template <class Do>
  void each_key(SliceId s, LaneId lane, Do do_) {
    if (is_annotation(t_.kind(s))) return do_(annotations_, t_.name_id(s).value);
    do_(names_, t_.name_id(s).value);
    do_(categories_, t_.slices.category[s.index()]);
    do_(lanes_, lane.value);
  }

  const Trace& t_;
  const LaneIndex& index_;
  const Area& area_;
  RowSums names_, annotations_, categories_, lanes_;
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
