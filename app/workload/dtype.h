#pragma once
// The number types that a workload computes in. tf32 is stored as float and only multiplied in fewer bits.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gapscope::workload {

enum class Dtype { kBf16, kFp16, kFp32, kTf32 };

using Shape = std::vector<std::int64_t>;  // outermost dimension first, rows stored one after another

std::string_view dtype_name(Dtype dtype);       // as the command line says it
std::string_view torch_type_name(Dtype dtype);  // as PyTorch writes it into "Input type"
std::size_t bytes_of(Dtype dtype);
std::int64_t element_count(const Shape& shape);

}  // namespace gapscope::workload
