#pragma once
// Every aten::addmm with the GPU work that it owns.
#include <vector>

#include "core/diagnose/facts.h"

namespace gapscope {

struct AddmmCall {
  SliceId op;
  std::uint32_t gpu_ops = 0;
  std::uint32_t gemms = 0;
  std::uint32_t needed = 0;  // apart from memsets and the reduction of a split-K GEMM, which are part of the multiplication
  bool split_k = false;      // such a reduction is among them
  std::uint32_t main = 0;    // position in Facts::ops of the last one that is needed
};
// In the order of their operators.
std::vector<AddmmCall> addmm_calls(const Facts& facts);

}  // namespace gapscope
