#pragma once
// Matrix products by cuBLAS. Tensors store rows, cuBLAS thinks in columns: what it sees is every matrix transposed, so
// the factors change places (C = A B is C' = B' A').
#include "app/workload/gpu/tensor.h"

namespace gapscope::workload {

// A factor, by itself or transposed.
struct Factor {
  const Tensor& tensor;
  bool transposed = false;
};

// out = a b + beta out. By cublasGemmEx.
void gemm(Device& device, Factor a, Factor b, Tensor& out, float beta = 0);

// out[i] = a[i] b[i] for the first of three dimensions. By cublasGemmStridedBatchedEx.
void batched_gemm(Device& device, const Tensor& a, const Tensor& b, Tensor& out);

// out = a b + bias, the bias added to each row while the product is stored. By cublasLtMatmul with its bias epilogue.
void gemm_with_bias(Device& device, Factor a, Factor b, const Tensor& bias, Tensor& out);

}  // namespace gapscope::workload
