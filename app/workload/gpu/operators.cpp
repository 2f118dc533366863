#include "app/workload/gpu/operators.h"

#include "app/workload/gpu/gemm.h"
#include "app/workload/gpu/kernels.h"
#include "app/workload/gpu/ranges.h"

namespace gapscope::workload::aten {
namespace {

Shape flat(const Tensor& tensor) { return {tensor.rows(), tensor.columns()}; }
Shape turned(const Tensor& tensor) { return {tensor.columns(), tensor.rows()}; }
OperatorInput flat_input(const Tensor& tensor) { return tensor_input(flat(tensor), tensor.dtype()); }
OperatorInput turned_input(const Tensor& tensor) { return tensor_input(turned(tensor), tensor.dtype()); }

void mm(Device& device, Factor a, Factor b, Tensor& out) {
  const auto input = [](const Factor& factor) {
    return factor.transposed ? turned_input(factor.tensor) : flat_input(factor.tensor);
  };
  const Operator range("aten::mm", {input(a), input(b)});
  gemm(device, a, b, out);
}

// What launches nothing still takes its time on the CPU lane: PyTorch makes a new description of the same memory.
void expand_and_reshape(const Tensor& tensor) {
  {
    const Operator range("aten::expand", {tensor.input(), list_input(), scalar_input()});
    const Operator inner("aten::as_strided", {tensor.input(), list_input(), list_input(), absent_input()});
  }
  const Operator range("aten::reshape", {tensor.input(), list_input()});
  const Operator inner("aten::view", {tensor.input(), list_input()});
}

void view(const Tensor& tensor, const Shape& shape) {
  const Operator range("aten::view", {tensor_input(shape, tensor.dtype()), list_input()});
}

void transpose(const Tensor& tensor) {
  const Operator range("aten::t", {tensor.input()});
  const Operator inner("aten::transpose", {tensor.input(), scalar_input(), scalar_input()});
  const Operator innermost("aten::as_strided", {tensor.input(), list_input(), list_input(), absent_input()});
}

void bmm(Device& device, const Tensor& a, const Tensor& b, Tensor& out) {
  expand_and_reshape(a);
  expand_and_reshape(b);
  {
    const Operator range("aten::bmm", {a.input(), b.input()});
    batched_gemm(device, a, b, out);
  }
  const Operator range("aten::_unsafe_view", {out.input(), list_input()});
}

void sum_of_columns(Device& device, const Tensor& x, Tensor& out) {
  const Operator range("aten::sum", {flat_input(x), list_input(), scalar_input(), absent_input()});
  launch_column_sums(device, x, out);
}

// The engine's range around a node of the graph, and the node's own.
class BackwardNode {
 public:
  BackwardNode(const std::string& name, const Tensor& gradient)
      : engine_(("autograd::engine::evaluate_function: " + name).c_str(), {gradient.input()}),
        node_(name.c_str(), {gradient.input()}) {}

 private:
  Operator engine_;
  Operator node_;
};

}  // namespace

void matmul(Device& device, const Tensor& a, const Tensor& b, Tensor& out) {
  const Operator range("aten::matmul", {a.input(), b.input()});
  if (a.shape().size() == 3) return bmm(device, a, b, out);
  mm(device, {a}, {b}, out);
}

void add(Device& device, const Tensor& a, const Tensor& b, Tensor& out) {
  const Operator range("aten::add", {a.input(), b.input(), scalar_input()});
  launch_add(device, a, b, out);
}

void mul(Device& device, const Tensor& a, const Tensor& b, Tensor& out) {
  const Operator range("aten::mul", {a.input(), b.input()});
  launch_mul(device, a, b, out);
}

void addcmul(Device& device, const Tensor& c, const Tensor& a, const Tensor& b, Tensor& out) {
  const Operator range("aten::addcmul", {c.input(), a.input(), b.input(), scalar_input()});
  launch_mul_add(device, a, b, c, out);
}

void gelu(Device& device, const Tensor& x, Tensor& out) {
  const Operator range("aten::gelu", {x.input(), absent_input()});
  launch_gelu(device, x, out);
}

void softmax(Device& device, const Tensor& x, Tensor& out) {
  const Operator range("aten::softmax", {x.input(), scalar_input(), absent_input()});
  const Operator inner("aten::_softmax", {x.input(), scalar_input(), scalar_input()});
  launch_softmax(device, x, out);
}

void addmm_with_epilogue(Device& device, const Tensor& bias, const Tensor& a, const Tensor& b, Tensor& out) {
  const Operator range("aten::addmm", {bias.input(), a.input(), b.input(), scalar_input(), scalar_input()});
  gemm_with_bias(device, {a}, {b}, bias, out);
}

void addmm_with_copy(Device& device, const Tensor& bias, const Tensor& a, const Tensor& b, Tensor& out) {
  const Operator range("aten::addmm", {bias.input(), a.input(), b.input(), scalar_input(), scalar_input()});
  check(cudaMemcpyAsync(out.data(), bias.data(), out.bytes(), cudaMemcpyDeviceToDevice, device.stream()), "cudaMemcpyAsync");
  gemm(device, {a}, {b}, out, 1);
}

void linear(Device& device, const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& out) {
  const Operator range("aten::linear", {x.input(), weight.input(), bias.input()});
  const bool nested = x.shape().size() > 2;
  if (nested) view(x, x.shape());
  transpose(weight);
  {
    const Operator inner("aten::addmm", {bias.input(), flat_input(x), turned_input(weight), scalar_input(), scalar_input()});
    gemm_with_bias(device, {x}, {weight, true}, bias, out);
  }
  if (nested) view(out, flat(out));
}

void linear_backward(Device& device, const Tensor& gradient, const Tensor& x, const Tensor& weight, LinearGradients out) {
  const BackwardNode node("AddmmBackward0", gradient);
  if (out.input) mm(device, {gradient}, {weight}, *out.input);
  transpose(gradient);
  mm(device, {gradient, true}, {x}, out.weight);
  sum_of_columns(device, gradient, out.bias);
}

void mul_backward(Device& device, const Tensor& gradient, const Tensor& a, const Tensor& b, Tensor& a_gradient,
                  Tensor& b_gradient) {
  const BackwardNode node("MulBackward0", gradient);
  mul(device, gradient, b, a_gradient);
  mul(device, gradient, a, b_gradient);
}

void gelu_backward(Device& device, const Tensor& gradient, const Tensor& x, Tensor& out) {
  const BackwardNode node("GeluBackward0", gradient);
  const Operator range("aten::gelu_backward", {gradient.input(), x.input(), absent_input()});
  launch_gelu_backward(device, gradient, x, out);
}

void sgd(Device& device, const Tensor& gradient, double rate, Tensor& parameter) {
  const Operator range("aten::add_", {parameter.input(), gradient.input(), scalar_input()});
  launch_sgd(device, gradient, rate, parameter);
}

}  // namespace gapscope::workload::aten
