#pragma once
// The workloads' own kernels, launched on the device's main stream. Everything is computed in float and stored in the
// tensors' type; out may be one of the inputs.
#include "app/workload/gpu/tensor.h"

namespace gapscope::workload {

void launch_add(Device& device, const Tensor& a, const Tensor& b, Tensor& out);
void launch_mul(Device& device, const Tensor& a, const Tensor& b, Tensor& out);
void launch_mul_add(Device& device, const Tensor& a, const Tensor& b, const Tensor& c, Tensor& out);  // a * b + c
void launch_gelu(Device& device, const Tensor& x, Tensor& out);
void launch_gelu_backward(Device& device, const Tensor& gradient, const Tensor& x, Tensor& out);
void launch_sgd(Device& device, const Tensor& gradient, double rate,
                Tensor& parameter);                                     // parameter -= rate * gradient
void launch_softmax(Device& device, const Tensor& x, Tensor& out);      // along rows
void launch_column_sums(Device& device, const Tensor& x, Tensor& out);  // out has one row

// cudaOccupancyMaxActiveBlocksPerMultiprocessor for the kernel that launch_add would launch.
int add_blocks_per_multiprocessor(Dtype dtype);

}  // namespace gapscope::workload
