#include "core/analyze/counters/kernel_places.h"

#include <algorithm>

#include "core/analyze/counters/measured_work.h"

namespace gapscope {

std::string_view place_name(KernelPlace place) {
  switch (place) {
    case KernelPlace::tensor_bound: return "tensor-bound";
    case KernelPlace::memory_bound: return "memory-bound";
    case KernelPlace::latency_bound: return "latency-bound";
    case KernelPlace::unmeasured: break;
  }
  return "too short to measure";
}

KernelPlace place_of(const CounterMeans& means) {
  if (!means.measured() || !means.knows(CounterKind::dram_share)) return KernelPlace::unmeasured;
  const double dram = means[CounterKind::dram_share];
  const double tensor = means.knows(CounterKind::tensor) ? means[CounterKind::tensor] : 0;
  if (std::max(dram, tensor) <= kBoundShare) return KernelPlace::latency_bound;
  return dram >= tensor ? KernelPlace::memory_bound : KernelPlace::tensor_bound;
}

std::vector<MeasuredKernel> measure_kernels(const Trace& trace, const std::vector<GpuOp>& ops,
                                            const std::vector<DeviceCounters>& counters) {
  const auto name_of = [&](const GpuOp& op) { return op.is_kernel() ? trace.name_id(op.slice).value : kUnmeasuredKind; };
  std::vector<MeasuredKernel> all;
  for (const DeviceCounters& device : counters) {
    for (const auto& [name, work] : measure_work(ops, device, name_of)) {
      MeasuredKernel kernel{StringId(std::size_t{name}), device.device(), work.pieces, work.time, work.pooled, work.means, {}};
      kernel.place = place_of(kernel.means);
      all.push_back(kernel);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  return all;
}

}  // namespace gapscope
