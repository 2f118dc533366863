#pragma once
// What a GPU's counters said, as plain values: what comes after CUPTI and NVML can be tested anywhere.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "app/sampler/activity.h"

namespace gapscope::sampler {

// In the order in which they are written. Shares are percent of what the GPU can do, rates GB/s (1e9 bytes).
enum class Quantity : std::uint8_t {
  sm_active,        // share of cycles in which an SM has a warp, mean over SMs
  sm_issue,         // instructions issued, of as many as could be
  tensor,           // share of cycles in which the tensor pipe works
  dram_read,        // GB/s
  dram_write,       // GB/s
  dram_share,       // both together, of the peak
  pcie_read,        // GB/s
  pcie_write,       // GB/s
  nvlink_received,  // GB/s
  nvlink_sent,      // GB/s
  sm_clock,         // MHz: cycles of the SMs over the time that passed
};
constexpr std::size_t kQuantities = 11;
constexpr double kNotMeasured = NAN;

// Means over a stretch of time; CUPTI's samples follow each other without a gap.
struct CounterReading {
  CounterReading() { values.fill(kNotMeasured); }
  double& operator[](Quantity q) { return values[static_cast<std::size_t>(q)]; }
  double operator[](Quantity q) const { return values[static_cast<std::size_t>(q)]; }

  std::int32_t device = 0;
  Times times;
  std::array<double, kQuantities> values{};
};

// What NVML says at a moment; NaN where it does not.
struct HealthReading {
  std::int32_t device = 0;
  Ns time = 0;
  double watts = kNotMeasured, sm_mhz = kNotMeasured, memory_mhz = kNotMeasured, celsius = kNotMeasured;
  bool knows_throttling = false, throttled_by_power = false, throttled_by_heat = false;
};

}  // namespace gapscope::sampler
