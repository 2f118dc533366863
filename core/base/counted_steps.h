#pragma once
// How many rows those searches have looked at whose length a file decides. Tests hold the sum against n log n: that is the same
// on every machine, which times are not.
#include <atomic>
#include <cstdint>

namespace gapscope {

inline std::atomic<std::uint64_t> counted_steps{0};

// Adds once at the end, since many threads count.
struct StepCount {
  std::uint64_t steps = 0;

  StepCount() = default;
  StepCount(const StepCount&) = delete;
  StepCount& operator=(const StepCount&) = delete;
  ~StepCount() {
    if (steps != 0) counted_steps.fetch_add(steps, std::memory_order_relaxed);
  }
};

}  // namespace gapscope
