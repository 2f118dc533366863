#pragma once
// What a trace's hardware counters say about its GPUs, its kernels and any slice, worked out once. All of it is empty where the
// trace has no counters.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analyze/counters/gpu_counters.h"
#include "core/analyze/counters/kernel_places.h"
#include "core/analyze/counters/roofline.h"
#include "core/analyze/gpu/gpu_ops.h"
#include "core/base/span_set.h"

namespace gapscope {

// Means that represent a slice, and how they come about.
struct SliceCounters {
  enum class From : std::uint8_t {
    nothing,   // no counters, or nothing ran on a GPU for it
    itself,    // GPU work or an annotation of a stream: its own time
    pooled,    // a kernel shorter than two samples: launches of its name one after another
    launched,  // a CPU slice: all GPU work launched while it ran, those parts of time together
  };
  From from = From::nothing;
  std::int32_t device = 0;
  std::uint64_t launches = 0;  // that the means rest on
  bool shared = false;         // other GPU work ran alongside it, for which the counters count too
  CounterMeans means;
};

class CounterFacts {
 public:
  CounterFacts() = default;
  // `ops`: see gpu_ops.h.
  CounterFacts(const Trace& trace, const LinkIndex& links, const std::vector<GpuOp>& ops);

  bool empty() const { return devices_.empty(); }
  const std::vector<DeviceCounters>& devices() const { return devices_; }
  const DeviceCounters* device(std::int32_t id) const;
  // When any GPU work runs on it, within `range`, and the means over that.
  SpanSet busy(const DeviceCounters& device, Span range) const;
  CounterMeans while_busy(const DeviceCounters& device, Span range) const;
  const CounterMeans& while_busy(const DeviceCounters& device) const { return means_[position(device)]; }  // in the whole trace
  // By time, longest first.
  const std::vector<MeasuredKernel>& kernels() const { return kernels_; }
  const MeasuredKernel* kernel(StringId name, std::int32_t device) const;
  const std::vector<RooflinePoint>& roofline() const { return roofline_; }
  // Linear in the trace's GPU work. An operator counts what its own thread launched while it ran; an annotation or a step what
  // any thread of its process did, for autograd launches the backward pass from a thread of its own.
  SliceCounters of_slice(const Trace& trace, SliceId slice) const;

 private:
  std::size_t position(const DeviceCounters& device) const { return static_cast<std::size_t>(&device - devices_.data()); }
  SliceCounters of_gpu_work(const Trace& trace, SliceId slice, std::int32_t device) const;
  SliceCounters of_launched(const Trace& trace, SliceId slice) const;

  std::vector<DeviceCounters> devices_;
  std::vector<GpuOp> ops_;
  std::vector<SpanSet> busy_;  // by position in devices_, as the next
  std::vector<CounterMeans> means_;
  std::vector<MeasuredKernel> kernels_;
  std::vector<RooflinePoint> roofline_;
};

}  // namespace gapscope
