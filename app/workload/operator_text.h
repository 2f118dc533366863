#pragma once
// The message of an operator's NVTX range: its name, a space, and what torch.profiler's record_shapes would note, as
// JSON:
//   aten::mm {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}
// The recorder splits it at the first space. Names and types are the program's own words, so nothing needs escaping.
#include <string>
#include <string_view>
#include <vector>

#include "app/workload/dtype.h"

namespace gapscope::workload {

struct OperatorInput {
  Shape dims;
  std::string_view type;
};

OperatorInput tensor_input(const Shape& shape, Dtype dtype);
inline OperatorInput scalar_input() { return {{}, "Scalar"}; }
inline OperatorInput list_input() { return {{}, "ScalarList"}; }
inline OperatorInput absent_input() { return {{}, ""}; }  // an optional argument that was left out

std::string operator_text(std::string_view name, const std::vector<OperatorInput>& inputs);

}  // namespace gapscope::workload
