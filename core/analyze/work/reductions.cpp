// Softmax, sums, maxima, losses, pooling: an operation an element of the input; the input, and the result, once.
#include <algorithm>
#include <cmath>

#include "core/analyze/work/families.h"

namespace gapscope::work {
namespace {

// The dims that are reduced stand second, of norms third.
std::size_t dims_place(std::string_view op) { return op.find("norm") != std::string_view::npos ? 2 : 1; }

// Elements that are left; dims that are no numbers of this tensor reduce everything.
double left_of(const Sizes& sizes, const std::vector<double>& dims) {
  if (dims.empty()) return 1;
  std::vector<bool> reduced(sizes.size(), false);
  for (const double dim : dims) {
    const double place = dim < 0 ? dim + static_cast<double>(sizes.size()) : dim;
    if (place >= 0 && place < static_cast<double>(sizes.size())) reduced[static_cast<std::size_t>(place)] = true;
  }
  double out = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) out *= reduced[i] ? 1 : sizes[i];
  return out;
}

double result_bytes(const WorkCall& call) {
  const std::string_view op = call.op;
  if (op == "aten::any" || op == "aten::all") return 1;
  if (op == "aten::argmax" || op == "aten::argmin" || op == "aten::count_nonzero") return 8;
  const double own = bytes_of_type(call.at(0).type);
  const bool with_places = op == "aten::max" || op == "aten::min" || op == "aten::median" || op == "aten::mode";
  if (with_places) return call.numbers(1).empty() ? own : own + 8;
  const bool has_type = op == "aten::sum" || op == "aten::mean" || op == "aten::prod" || op == "aten::nansum";
  const double stated = has_type ? bytes_of_type_code(call.at(call.size() - 1).value) : 0;
  return stated > 0 ? stated : own;
}

}  // namespace

Work softmax(const WorkCall& call) {
  const WorkArgument& self = call.at(0);
  if (!self.is_tensor()) return uncounted(kOddShapes);
  const bool to_float = call.flag(2).value_or(false);
  return counted(self.count(), self.bytes() + self.count() * (to_float ? 4 : bytes_of_type(self.type)));
}

// The gradient and the result of forward, both read; the gradient of its input in the type that is stated last.
Work softmax_backward(const WorkCall& call) {
  const WorkArgument &gradient = call.at(0), &result = call.at(1);
  if (!gradient.is_tensor() || !result.is_tensor()) return uncounted(kOddShapes);
  const double stated = bytes_of_type_code(call.at(3).value);
  return counted(gradient.count(),
                 gradient.bytes() + result.bytes() + result.count() * (stated > 0 ? stated : bytes_of_type(result.type)));
}

Work reduction(const WorkCall& call) {
  const WorkArgument& self = call.at(0);
  if (!self.is_tensor()) return uncounted(kOddShapes);
  const bool two = call.at(1).is_tensor() && !call.at(1).sizes.empty();  // max of two tensors is elementwise
  if (two) return counted(self.count(), self.bytes() + call.at(1).bytes() + std::max(self.bytes(), call.at(1).bytes()));
  const double left = left_of(self.sizes, call.numbers(dims_place(call.op)));
  return counted(self.count(), self.bytes() + left * result_bytes(call));
}

Work scan(const WorkCall& call) {
  const WorkArgument& self = call.at(0);
  if (!self.is_tensor()) return uncounted(kOddShapes);
  return counted(self.count(), 2 * self.bytes());
}

// A radix sort goes over keys and places once for each 8 bits of a key, reading and writing both (CUB's and rocPRIM's
// onesweep).
Work sort(const WorkCall& call) {
  const WorkArgument& self = call.at(0);
  if (!self.is_tensor()) return uncounted(kOddShapes);
  const double passes = bytes_of_type(self.type);
  const bool selects = call.op == "aten::topk";  // goes over its input and writes little
  return counted(self.count(), selects ? self.bytes() : passes * 2 * (self.bytes() + 8 * self.count()));
}

Work nll_loss(const WorkCall& call) {
  const WorkArgument &self = call.at(0), &target = call.at(1);
  if (!self.is_tensor()) return uncounted(kOddShapes);
  return counted(target.count(), target.bytes() + (target.count() + 2) * bytes_of_type(self.type));
}

Work nll_loss_backward(const WorkCall& call) {
  const WorkArgument &self = call.at(1), &target = call.at(2);
  if (!self.is_tensor()) return uncounted(kOddShapes);
  return counted(target.count(), target.bytes() + self.bytes());
}

// Fused softmax and loss (TraceLens): exponent, sum, logarithm, difference, choice.
Work cross_entropy(const WorkCall& call) {
  const WorkArgument& logits = call.at(0);
  if (logits.sizes.empty()) return uncounted(kOddShapes);
  return counted(5 * logits.sizes.front() * logits.sizes.back(), logits.bytes() + logits.sizes.front() * 12);
}

Work pool(const WorkCall& call) {
  const WorkArgument& self = call.at(0);
  if (self.sizes.size() < 3) return uncounted(kOddShapes);
  const bool adaptive = call.op.find("adaptive") != std::string_view::npos;
  const std::vector<double> kernel = call.numbers(1), padding = call.numbers(3);
  std::vector<double> stride = call.numbers(2);
  if (kernel.empty()) return uncounted(kNoValues);
  if (stride.empty()) stride = kernel;
  const bool indexed = call.op.find("with_indices") != std::string_view::npos;
  const auto one = [](const std::vector<double>& list, std::size_t i, double otherwise) {
    return list.empty() ? otherwise : list[std::min(i, list.size() - 1)];
  };
  const std::size_t places = std::min<std::size_t>(self.sizes.size() - 1, call.op.find("3d") != std::string_view::npos ? 3 : 2);
  double result = 1;
  for (std::size_t i = 0; i < self.sizes.size(); ++i) {
    const std::size_t first = self.sizes.size() - places;
    if (i < first)
      result *= self.sizes[i];
    else if (adaptive)
      result *= one(kernel, i - first, 1);
    else
      result *= std::floor((self.sizes[i] + 2 * one(padding, i - first, 0) - one(kernel, i - first, 1)) /
                           std::max(one(stride, i - first, 1), 1.0)) +
                1;
  }
  return counted(self.count(), self.bytes() + result * (bytes_of_type(self.type) + (indexed ? 8 : 0)));
}

Work pool_backward(const WorkCall& call) {
  const WorkArgument &gradient = call.at(0), &self = call.at(1);
  if (!gradient.is_tensor() || !self.is_tensor()) return uncounted(kOddShapes);
  const WorkArgument& indices = call.at(call.size() - 1);
  const bool indexed = call.op.find("with_indices") != std::string_view::npos;
  return counted(self.count(), gradient.bytes() + (indexed ? indices.bytes() : 0) + self.bytes());
}

}  // namespace gapscope::work
