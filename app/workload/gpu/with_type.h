#pragma once
// From a Dtype to the C++ type that stores it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "app/workload/dtype.h"

namespace gapscope::workload {

// Calls function(T{}) with the type T of dtype.
template <class Function>
void with_type(Dtype dtype, Function function) {
  switch (dtype) {
    case Dtype::kBf16: return function(__nv_bfloat16{});
    case Dtype::kFp16: return function(__half{});
    case Dtype::kFp32:
    case Dtype::kTf32: return function(float{});
  }
}

}  // namespace gapscope::workload
