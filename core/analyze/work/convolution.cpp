// Convolutions, as PyTorch's flop_counter has them: each place of the result sums over the weights of one output channel.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/analyze/work/families.h"

namespace gapscope::work {
namespace {

constexpr std::size_t kNone = 99;

struct Places {
  std::string_view op;
  std::size_t bias, stride, padding, dilation, groups, transposed = kNone, output_padding = kNone;
  bool is_transposed = false;  // by its name
};
constexpr auto kForward = std::to_array<Places>({
    {"aten::convolution", 2, 3, 4, 5, 8, 6, 7},
    {"aten::_convolution", 2, 3, 4, 5, 8, 6, 7},
    {"aten::cudnn_convolution", kNone, 3, 2, 4, 5},
    {"aten::cudnn_convolution_transpose", kNone, 4, 2, 5, 6, kNone, 3, true},
    {"aten::cudnn_convolution_relu", 2, 3, 4, 5, 6},
    {"aten::miopen_convolution", 2, 4, 3, 5, 6},
    {"aten::miopen_convolution_transpose", 2, 5, 3, 6, 7, kNone, 4, true},
    {"aten::miopen_depthwise_convolution", 2, 4, 3, 5, 6},
    {"aten::_conv_depthwise2d", 3, 4, 5, 6, kNone},
    {"aten::conv_depthwise3d", 3, 4, 5, 6, kNone},
    {"aten::thnn_conv2d", 3, 4, 5, kNone, kNone},
    {"aten::_slow_conv2d_forward", 3, 4, 5, kNone, kNone},
    {"ConvBias_", 2, 3, 4, kNone, kNone},
    {"ConvBiasReLU_", 2, 3, 4, kNone, kNone},
});

// One of a list, which may hold one number for all places.
std::optional<double> one_of(const std::vector<double>& list, std::size_t i, double otherwise) {
  if (list.empty()) return otherwise;
  if (list.size() == 1) return list[0];
  return i < list.size() ? std::optional(list[i]) : std::nullopt;
}

struct Shape {
  Sizes result;
  bool transposed = false;
};

// Length of one dimension of the result.
std::optional<double> result_length(const WorkCall& call, const Places& at, std::size_t i, bool transposed) {
  const double length = call.sizes(0)[i + 2], kernel = call.sizes(1)[i + 2];
  const auto stride = one_of(call.numbers(at.stride), i, 1), padding = one_of(call.numbers(at.padding), i, 0);
  const auto dilation = one_of(call.numbers(at.dilation), i, 1), more = one_of(call.numbers(at.output_padding), i, 0);
  if (!stride || !padding || !dilation || !more || *stride < 1) return {};
  const double reach = *dilation * (kernel - 1);
  if (transposed) return (length - 1) * *stride - 2 * *padding + reach + *more + 1;
  return std::floor((length + 2 * *padding - reach - 1) / *stride) + 1;
}

std::optional<Shape> shape_of(const WorkCall& call, const Places& at) {
  const Sizes &input = call.sizes(0), &weight = call.sizes(1);
  Shape out{call.result, at.is_transposed || call.flag(at.transposed).value_or(false)};
  if (!out.result.empty()) return out;
  if (!call.has_values) return {};
  const double groups = one_of(call.numbers(at.groups), 0, 1).value_or(1);
  out.result = {input[0], out.transposed ? weight[1] * groups : weight[0]};
  for (std::size_t i = 0; i + 2 < input.size(); ++i) {
    const auto length = result_length(call, at, i, out.transposed);
    if (!length || *length < 1) return {};
    out.result.push_back(*length);
  }
  return out;
}

double sums(const Sizes& places, const Sizes& weight) {
  double out = 2 * places[0] * elements(weight);
  for (std::size_t i = 2; i < places.size(); ++i) out *= places[i];
  return out;
}

bool are_of_convolution(const Sizes& a, const Sizes& b) { return a.size() >= 3 && a.size() == b.size(); }

// Old names have one operator a gradient, or the mask as their last argument.
struct BackwardPlaces {
  std::size_t gradient = 0, input = 1, weight = 2, transposed = 7, mask = 10;
};

BackwardPlaces backward_places(const WorkCall& call) {
  if (call.op == "aten::convolution_backward") return {};
  if (call.op == "aten::convolution_backward_overrideable") return {0, 1, 2, 6, 9};
  return {1, 0, 2, kNone, call.size() - 1};  // cudnn and miopen of 2021
}

}  // namespace

Work convolution(const WorkCall& call) {
  const auto* at = std::find_if(kForward.begin(), kForward.end(), [&](const Places& p) { return p.op == call.op; });
  const WorkArgument &input = call.at(0), &weight = call.at(1);
  if (at == kForward.end() || !are_of_convolution(input.sizes, weight.sizes)) return uncounted(kOddShapes);
  if (!call.has_values && call.result.empty()) return uncounted(kNoValues);
  const auto shape = shape_of(call, *at);
  if (!shape) return uncounted(kOddShapes);
  const WorkArgument& bias = call.at(at->bias);
  const double bytes = input.bytes() + weight.bytes() + (bias.sizes.empty() ? 0 : bias.bytes()) +
                       elements(shape->result) * bytes_of_type(input.type);
  return counted(sums(shape->transposed ? input.sizes : shape->result, weight.sizes), bytes);
}

Work convolution_backward(const WorkCall& call) {
  const BackwardPlaces at = backward_places(call);
  const WorkArgument &gradient = call.at(at.gradient), &input = call.at(at.input), &weight = call.at(at.weight);
  if (!are_of_convolution(gradient.sizes, weight.sizes) || !are_of_convolution(input.sizes, weight.sizes))
    return uncounted(kOddShapes);
  std::vector<bool> mask = call.flags(at.mask);
  if (mask.size() != 3) mask = {call.input_gradient, call.weight_gradient, false};
  const bool transposed = call.flag(at.transposed).value_or(false);
  const double each = sums(transposed ? input.sizes : gradient.sizes, weight.sizes);
  const double all = gradient.bytes() + input.bytes() + weight.bytes();  // two read and one written
  const double channels = gradient.sizes[1] * bytes_of_type(gradient.type);
  return counted((mask[0] ? each : 0) + (mask[1] ? each : 0) + (mask[2] ? gradient.count() : 0),
                 (mask[0] ? all : 0) + (mask[1] ? all : 0) + (mask[2] ? gradient.bytes() + channels : 0));
}

}  // namespace gapscope::work
