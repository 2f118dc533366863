#pragma once
// Memory of a recording with profile_memory=True: what was allocated when, the peak, and which operators asked for it.
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/index/lane_index.h"
#include "core/trace/trace.h"

namespace gapscope {

struct MemoryPoint {
  Ns time = 0;
  std::int64_t allocated = 0;  // bytes, from `time` on
  std::int64_t reserved = -1;  // -1 where the file does not say
};

// "CPU", "GPU 0" (CUDA, ROCm and Intel's alike), "MPS 0", "device type 19 number 0"; types as in PyTorch's
// c10/core/DeviceType.h.
std::string memory_device_name(std::int16_t device_type, std::int16_t device);

// What a device's records show of its memory over time, in time order. Refers to the trace's records, which must outlive it:
// 4 bytes a record where they state totals, 12 where they do not.
class MemoryCurve {
 public:
  explicit MemoryCurve(const Trace* trace) : trace_(trace) {}
  void add(std::uint32_t record);  // a position in Trace::memory

  std::size_t size() const { return records_.size(); }
  bool empty() const { return records_.empty(); }
  MemoryPoint operator[](std::size_t i) const;
  MemoryPoint back() const { return (*this)[size() - 1]; }
  Ns time(std::size_t i) const { return trace_->memory[records_[i]].time; }
  // Position of the last point at or before `t`; none before the first.
  std::optional<std::size_t> at(Ns t) const;

 private:
  const Trace* trace_;
  std::vector<std::uint32_t> records_;
  std::vector<std::int64_t> sums_;  // as far as a record without total was among them; by point
};

struct MemoryDevice {
  explicit MemoryDevice(const Trace& trace) : points(&trace) {}

  std::int16_t device_type = 0;  // c10::DeviceType
  std::int16_t device = -1;      // -1 for the CPU
  bool states_totals = false;    // false: `allocated` is the running sum of this recording, beginning at 0
  MemoryCurve points;
  std::size_t peak = 0;             // position of the highest `allocated`, the first of equal ones
  LaneId peak_lane;                 // thread of the record that made the peak
  std::vector<SliceId> peak_stack;  // its slices at that time, outermost first
  std::int64_t peak_reserved = -1;  // the highest `reserved`; -1 for the CPU, whose allocator reserves nothing
  std::uint64_t allocations = 0, frees = 0;
  std::uint64_t out_of_memory = 0;
};

// Records that lie directly in an operator: in it and in no operator inside it.
struct MemoryOperator {
  StringId name;  // none: outside every operator
  std::int16_t device_type = 0;
  std::int16_t device = -1;
  std::uint64_t allocations = 0, frees = 0;
  std::int64_t allocated = 0;  // bytes asked for
  std::int64_t freed = 0;      // bytes given back, positive
};

struct MemoryUse {
  std::vector<MemoryDevice> devices;      // GPUs first, then by number
  std::vector<MemoryOperator> operators;  // most bytes asked for first
};

// Empty when the trace holds no memory records.
// Of a stretch of time, `within`: the curves end with it; peaks, of what holds when it begins or comes later; counts and
// operators of the records in it alone. A device without a record up to its end is not there. Ends early, with anything, once
// `cancel` (may be null) is set.
MemoryUse memory_use(const Trace& trace, const LaneIndex& lanes, const std::optional<Span>& within = {},
                     const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
