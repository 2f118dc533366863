#include "app/workload/dtype.h"

namespace gapscope::workload {

std::string_view dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBf16: return "bf16";
    case Dtype::kFp16: return "fp16";
    case Dtype::kFp32: return "fp32";
    case Dtype::kTf32: return "tf32";
  }
  return "";
}

std::string_view torch_type_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBf16: return "c10::BFloat16";
    case Dtype::kFp16: return "c10::Half";
    case Dtype::kFp32:
    case Dtype::kTf32: return "float";
  }
  return "";
}

std::size_t bytes_of(Dtype dtype) { return dtype == Dtype::kBf16 || dtype == Dtype::kFp16 ? 2 : 4; }

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t length : shape) count *= length;
  return count;
}

}  // namespace gapscope::workload
