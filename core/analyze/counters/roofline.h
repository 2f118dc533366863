#pragma once
// Where kernels lie under their GPU's roof (Williams, Waterman, Patterson, "Roofline", CACM 2009): operations a second over
// operations a byte of memory traffic. Operations come from the recorded shapes of the product that a kernel computes, bytes
// are counted by the GPU. Only kernels with both known.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analyze/counters/kernel_places.h"
#include "core/analyze/operators/flops.h"

namespace gapscope {

struct RooflinePoint {
  StringId name;
  std::int32_t device = 0;
  std::uint64_t launches = 0;  // whose operations are known
  Ns time = 0;                 // theirs
  double per_second = 0;       // operations
  double per_byte = 0;         // operations, of DRAM read and written
  std::optional<MathType> math;
};

// `kernels`: see measure_kernels. By time, longest first.
std::vector<RooflinePoint> roofline_points(const Trace& trace, const LinkIndex& links, const std::vector<GpuOp>& ops,
                                           const std::vector<MeasuredKernel>& kernels);

// Bytes a second that the GPU's memory moves at most, by what the file calls its share of the peak; nothing where it does not.
std::optional<double> dram_peak(const CounterMeans& means);

}  // namespace gapscope
