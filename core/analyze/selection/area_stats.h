#pragma once
// What is in an area, by name, by category and by lane, every time cut at the area's edges; and how busy the GPUs were
// in that time. Linear in the slices that touch the area.
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analyze/selection/area.h"
#include "core/index/lane_index.h"

namespace gapscope {

// A label around work, of the program or the profiler.
constexpr bool is_annotation(Kind k) { return k == Kind::annotation || k == Kind::gpu_annotation; }

struct AreaRow {
  std::uint32_t key = 0;    // a StringId (of annotations, too), a position in Trace::categories or a LaneId, by the table
  std::uint64_t count = 0;  // slices that touch the area
  Ns total = 0;             // sum of their times in it; slices of one row may nest
  Ns self = 0;              // less the times in it of their direct children (those of LaneIndex::parent)
  Ns min = 0, max = 0;      // of the times in it
  Ns mean() const { return count == 0 ? 0 : total / static_cast<Ns>(count); }
};

// Of the GPU lanes in the area; where it has none, of all GPU lanes in its time.
struct AreaGpu {
  std::uint32_t devices = 0;  // 0: no GPU lane in the trace
  bool in_area = false;       // the area itself holds GPU lanes
  Ns busy = 0, idle = 0;      // summed over the devices; busy + idle = length of the area times devices
  std::uint64_t gaps = 0;     // stretches in which a device does nothing, those at the area's edges included
  Span longest;               // empty where there is no gap
  LaneId longest_lane;        // a lane of its device
};

// Annotations (steps, ranges of the program, on the CPU and over GPU work) are labels around work: they have a table of their
// own and count in no other. They take from the self time of what they lie in, as any slice does.
struct AreaStats {
  Area area;
  std::uint64_t slices = 0, annotations = 0;
  // Ascending by key; lanes without a slice in the area are left out.
  std::vector<AreaRow> by_name, by_category, by_lane, by_annotation;
  Ns self = 0;  // sum over all rows of a table: the same for each but that of annotations
  AreaGpu gpu;
};

// Nothing when `cancel` (may be null) turned true on the way.
std::optional<AreaStats> area_stats(const Trace& trace, const LaneIndex& lanes, const Area& area,
                                    const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
