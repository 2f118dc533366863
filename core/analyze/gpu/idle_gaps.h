#pragma once
// Why a GPU stream was idle: the gaps between its operations by HTA's idle-time rule, and the CPU call behind each.
#include <array>
#include <cstdint>
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"

namespace gapscope {

enum class IdleClass : std::uint8_t {
  host_wait,    // the next operation was launched after the stream had run dry: the CPU was late
  kernel_wait,  // launched in time, and shorter than the GPU needs between two kernels
  other,        // launched in time, yet long: it waited for another stream, or its launch is not in the file
};
constexpr std::size_t kIdleClasses = 3;
std::string_view idle_class_name(IdleClass c);  // "host_wait", ...

// HTA's consecutive_kernel_delay: 30 us.
constexpr Ns kKernelWaitLimit = 30 * kNsPerUs;

struct IdleGap {
  Span span;
  std::int32_t device = 0;
  std::int32_t stream = -1;
  IdleClass idle_class = IdleClass::other;
  SliceId before;  // the operation that ended it all; of several the one that ends last
  SliceId after;   // the operation that the gap waited for
  SliceId cause;   // a call, overhead or data loader slice that covers most of the gap, else the late launch; none if neither
};

// Gaps in order of (device, stream, time), 13 bytes each. Refers to the trace, which must outlive it.
class IdleGaps {
 public:
  IdleGaps() = default;
  explicit IdleGaps(const Trace& trace) : trace_(&trace) {}
  void reserve(std::size_t gaps);
  // Its span and place among the streams are as the operations around it say.
  void add(const IdleGap& gap);

  std::size_t size() const { return class_.size(); }
  bool empty() const { return class_.empty(); }
  IdleGap operator[](std::size_t i) const;

 private:
  struct Stream {
    std::size_t first;  // of its gaps
    std::int32_t device, stream;
  };
  const Trace* trace_ = nullptr;
  std::vector<SliceId> before_, after_, cause_;
  std::vector<IdleClass> class_;
  std::vector<Stream> streams_;
};

struct StreamIdle {
  std::int32_t device = 0;
  std::int32_t stream = -1;
  std::array<Ns, kIdleClasses> time{};  // by IdleClass
  std::array<std::uint64_t, kIdleClasses> count{};
};
struct Idle {
  IdleGaps gaps;
  std::vector<StreamIdle> streams;  // one entry a stream that did work, also where it never was idle
};
// The first operation of a stream has no gap. HTA measures from the end of the previous operation; we from the latest end so
// far, which is the same unless operations of one stream overlap. `streams`: streams_of(ops).
Idle find_idle(const Trace& trace, const std::vector<GpuOp>& ops, const std::vector<StreamOps>& streams);

}  // namespace gapscope
