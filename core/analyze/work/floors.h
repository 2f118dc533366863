#pragma once
// How long a call had to take at least: the longer of its operations at the GPU's peak and its bytes at the memory's bandwidth.
// How far a run was from that: what it reached, and its headroom.
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/analyze/gpu/devices.h"
#include "core/analyze/work/work_table.h"

namespace gapscope {

// launch: both are under what starting a kernel takes, 2 us.
enum class FloorBound : std::uint8_t { unknown, compute, memory, launch, link };
std::string_view floor_bound_name(FloorBound bound);  // "compute", ...; "" of unknown

struct Floor {
  std::optional<double> floor_ns;          // of all calls of the row
  FloorBound bound = FloorBound::unknown;  // what the floor is made of
  std::optional<double> reached;           // floor over kernel time, 0..1
  std::optional<double> headroom_ns;       // kernel time less the floor
  std::string_view note;                   // where one of these is not known: why
};

constexpr Ns kLaunchFloor = 2000;

Floor floor_of(const Trace& trace, const WorkRow& row);

// Of one GPU operation: its share of its call's floor by its share of the call's kernel time. None where that is not known, or
// where it ran faster than that.
std::optional<double> floor_of_kernel(const Trace& trace, const WorkTable& table, SliceId kernel);

// What the rows' floors come to: only rows whose headroom is known count.
struct FloorSum {
  Ns kernel_ns = 0;
  double floor_ns = 0;
  double reached() const { return kernel_ns > 0 ? floor_ns / static_cast<double>(kernel_ns) : 0; }
};
FloorSum sum_floors(const Trace& trace, const WorkTable& table);

}  // namespace gapscope
