#include "core/analyze/work/floors.h"

#include <algorithm>
#include <array>

#include "core/analyze/work/kernel_floors.h"
#include "core/base/saturating.h"

namespace gapscope {
namespace {

constexpr std::string_view kUnknownDevice =
    "The file does not name the GPU, or it is not in the table of devices: give --peak and --bandwidth.";
constexpr std::string_view kUnknownMath = "Its kernels' names do not show in which type they multiply.";
constexpr std::string_view kNoPeak = "The table of devices has no peak of this GPU for this type: give --peak.";
constexpr std::string_view kLinks = "Its time depends on the links between GPUs. The table does not have their bandwidth.";
constexpr std::string_view kFromCache = "From cache: it was faster than the memory, and its data fit into the last cache.";
constexpr std::string_view kFaster =
    "Not known: it was faster than its floor, so it does less work than its shapes say, as Winograd convolutions do, or found "
    "part of its data in the cache.";
constexpr std::string_view kNoTime = "No time of its kernels is recorded.";

// What is no product runs on the ordinary cores, in fp32 unless its data are fp64.
MathType math_of(const WorkRow& row) {
  if (row.is_product) return row.math.value_or(MathType::fp32);
  return row.math == MathType::fp64 ? MathType::fp64 : MathType::fp32;
}

Floor without(std::string_view note) { return {{}, FloorBound::unknown, {}, {}, note}; }

Floor rated(const WorkRow& row, double compute_ns, double memory_ns, double cache) {
  const double calls = static_cast<double>(row.count), launch = static_cast<double>(kLaunchFloor);
  const double each = std::max(compute_ns, memory_ns), time = static_cast<double>(row.kernel_ns);
  Floor out;
  out.bound = each < launch ? FloorBound::launch : compute_ns > memory_ns ? FloorBound::compute : FloorBound::memory;
  if (row.kernel_ns <= 0) return without(kNoTime);
  if (each * calls > time) {
    out.note = memory_ns > compute_ns && *row.each.bytes <= cache ? kFromCache : kFaster;
    return out;
  }
  out.floor_ns = each * calls;
  out.reached = *out.floor_ns / time;
  out.headroom_ns = time - *out.floor_ns;
  return out;
}

}  // namespace

std::string_view floor_bound_name(FloorBound bound) {
  constexpr std::array<std::string_view, 5> kNames = {"", "compute", "memory", "launch", "link"};
  return kNames[static_cast<std::size_t>(bound)];
}

Floor floor_of(const Trace& trace, const WorkRow& row) {
  if (!row.each.bytes) return without(row.each.why.empty() ? "No model counts this operator." : row.each.why);
  if (row.crosses_links) return {{}, FloorBound::link, {}, {}, kLinks};
  const std::string_view device = gpu_name(trace, row.device);
  const auto bandwidth = memory_bandwidth(trace.stated.roofs, device);
  if (!bandwidth) return without(kUnknownDevice);
  const double flops = row.each.flops.value_or(0);
  if (row.is_product && flops > 0 && !row.math) return without(kUnknownMath);
  const auto peak = dense_peak(trace.stated.roofs, device, math_of(row));
  if (row.is_product && flops > 0 && !peak) return without(kNoPeak);
  const double compute_ns = peak ? flops / *peak * 1e9 : 0;
  return rated(row, compute_ns, *row.each.bytes / *bandwidth * 1e9, last_cache_bytes(device));
}

std::optional<double> floor_of_kernel(const Trace& trace, const WorkTable& table, SliceId kernel) {
  const CallWork* call = table.call_of_kernel(kernel);
  return call ? share_of_floor(trace, table, *call, floor_of(trace, table.rows[call->row]).floor_ns, kernel) : std::nullopt;
}

FloorSum sum_floors(const Trace& trace, const WorkTable& table) {
  FloorSum out;
  for (const WorkRow& row : table.rows) {
    const Floor floor = floor_of(trace, row);
    if (!floor.floor_ns) continue;
    add_saturating(out.kernel_ns, row.kernel_ns);
    out.floor_ns += *floor.floor_ns;
  }
  return out;
}

}  // namespace gapscope
