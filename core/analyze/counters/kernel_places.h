#pragma once
// What bounds each kernel, by its GPU's counters: the memory, the tensor cores, or neither. Equal launches one after another
// are measured together, so that also kernels shorter than a sample have figures. What runs alongside another kernel is not
// measured: the GPU counts for both.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/analyze/counters/gpu_counters.h"
#include "core/analyze/gpu/gpu_ops.h"

namespace gapscope {

enum class KernelPlace : std::uint8_t {
  unmeasured,  // too short, or no counters then
  tensor_bound,
  memory_bound,
  latency_bound,  // neither
};
std::string_view place_name(KernelPlace place);

// Percent: beyond it a kernel is bound by what is used so much.
constexpr double kBoundShare = 60;
// Of the two the one that is used more. Unmeasured below two samples, or where DRAM's share is not known.
KernelPlace place_of(const CounterMeans& means);

struct MeasuredKernel {
  StringId name;
  std::int32_t device = 0;
  std::uint64_t launches = 0;  // of all of that name on that device
  Ns time = 0;                 // their sum
  std::uint64_t pooled = 0;    // launches that `means` rests on
  CounterMeans means;
  KernelPlace place = KernelPlace::unmeasured;
};

// By time, longest first. `ops`: see gpu_ops.h.
std::vector<MeasuredKernel> measure_kernels(const Trace& trace, const std::vector<GpuOp>& ops,
                                            const std::vector<DeviceCounters>& counters);

}  // namespace gapscope
