#pragma once
// Kernels by what their GPU's counters say.
#include <functional>
#include <vector>

#include "core/diagnose/facts.h"

namespace gapscope {

struct MeasuredShare {
  std::vector<const MeasuredKernel*> kernels;  // those that satisfy, most time first
  Ns time = 0;                                 // theirs
  double share = 0;                            // of the time of all kernels on the GPUs that have counters, 0..1
  std::vector<SliceId> slices;                 // of these names, on those GPUs
};
// Kernels that were measured and satisfy `wants`.
MeasuredShare measured_share(const Facts& facts, const std::function<bool(const MeasuredKernel&)>& wants);

}  // namespace gapscope
