#pragma once
// Means of a GPU's counters over work that is alike. Pieces that follow each other with nothing concurrent or between are
// measured together, so that also what is shorter than a sample has figures.
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/analyze/counters/gpu_counters.h"
#include "core/analyze/gpu/gpu_ops.h"

namespace gapscope {

// Of one kind.
struct MeasuredWork {
  std::uint64_t pieces = 0, pooled = 0;  // of all, and those that `means` rests on
  Ns time = 0;                           // of all
  CounterMeans means;
};
constexpr std::uint32_t kUnmeasuredKind = ~std::uint32_t{0};
// By kind. `kind_of` says what is alike; kUnmeasuredKind: with nothing. `ops`: see gpu_ops.h.
std::map<std::uint32_t, MeasuredWork> measure_work(const std::vector<GpuOp>& ops, const DeviceCounters& counters,
                                                   const std::function<std::uint32_t(const GpuOp&)>& kind_of);

}  // namespace gapscope
