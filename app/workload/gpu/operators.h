#pragma once
// PyTorch's operators, as far as the cases need them: each opens the ranges that the profiler shows for it, nested in
// the same way, and launches what PyTorch would launch. Results are written to out.
#include "app/workload/gpu/tensor.h"

namespace gapscope::workload::aten {

void matmul(Device& device, const Tensor& a, const Tensor& b, Tensor& out);  // mm, or bmm with three dimensions
void add(Device& device, const Tensor& a, const Tensor& b, Tensor& out);
void mul(Device& device, const Tensor& a, const Tensor& b, Tensor& out);
void addcmul(Device& device, const Tensor& c, const Tensor& a, const Tensor& b,
             Tensor& out);  // c + a * b in one kernel
void gelu(Device& device, const Tensor& x, Tensor& out);
void softmax(Device& device, const Tensor& x, Tensor& out);  // of the last dimension

// bias + a b: the bias is a row that the product adds while it stores, or a matrix that is copied into out first.
void addmm_with_epilogue(Device& device, const Tensor& bias, const Tensor& a, const Tensor& b, Tensor& out);
void addmm_with_copy(Device& device, const Tensor& bias, const Tensor& a, const Tensor& b, Tensor& out);

// x weight' + bias; weight has a row for each column of out.
void linear(Device& device, const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& out);

// The backward passes, inside the autograd engine's ranges.
struct LinearGradients {
  Tensor& weight;
  Tensor& bias;
  Tensor* input;  // null: the input needs none
};
void linear_backward(Device& device, const Tensor& gradient, const Tensor& x, const Tensor& weight, LinearGradients out);
void mul_backward(Device& device, const Tensor& gradient, const Tensor& a, const Tensor& b, Tensor& a_gradient,
                  Tensor& b_gradient);
void gelu_backward(Device& device, const Tensor& gradient, const Tensor& x, Tensor& out);

// One parameter's step of an optimizer: parameter -= rate * gradient.
void sgd(Device& device, const Tensor& gradient, double rate, Tensor& parameter);

}  // namespace gapscope::workload::aten
