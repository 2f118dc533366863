// Normalizations as TraceLens counts them (perf_model.py, Normalization): with E elements and C channels, forward 5 E + 6 C
// where mean and variance are worked out, else 2 E + 6 C; backward 9 E.
#include <algorithm>

#include "core/analyze/work/families.h"

namespace gapscope::work {
namespace {

bool is(const WorkCall& call, std::string_view kind) { return call.op.find(kind) != std::string_view::npos; }

struct Norm {
  const WorkArgument* input = nullptr;
  double channels = 0;
  bool has_weight = true, has_bias = true, training = true;
};

double product(const std::vector<double>& numbers) {
  double out = numbers.empty() ? 0 : 1;
  for (const double n : numbers) out *= n;
  return out;
}

// The normalized sizes, or those of the weight.
double normalized(const WorkCall& call, std::size_t list, std::size_t weight) {
  const double out = product(call.numbers(list));
  if (out > 0) return out;
  return call.sizes(weight).empty() ? call.sizes(0).empty() ? 0 : call.sizes(0).back() : elements(call.sizes(weight));
}

double second(const WorkCall& call, std::size_t input) { return call.sizes(input).size() > 1 ? call.sizes(input)[1] : 0; }

Norm forward_of(const WorkCall& call) {
  Norm out{&call.at(0)};
  if (is(call, "layer_norm")) {
    out.channels = normalized(call, 1, 2);
    out.has_weight = !call.sizes(2).empty(), out.has_bias = !call.sizes(3).empty();
  } else {
    const std::size_t weight = call.op == "aten::group_norm" ? 2 : 1;
    out.channels = second(call, 0);
    out.has_weight = !call.sizes(weight).empty(), out.has_bias = !call.sizes(weight + 1).empty();
    if (is(call, "batch_norm") || is(call, "instance_norm")) out.training = call.flag(5).value_or(true);
  }
  return out;
}

struct NormBackward {
  Norm norm;
  bool input_gradient = true;
};

NormBackward backward_of(const WorkCall& call) {
  const bool library = is(call, "cudnn") || is(call, "miopen");
  NormBackward out{{&call.at(library ? 0 : 1)}};
  Norm& n = out.norm;
  std::vector<bool> mask = call.flags(call.size() - 1);
  if (is(call, "layer_norm")) {
    n.channels = normalized(call, 2, 5);
    n.has_weight = !call.sizes(5).empty(), n.has_bias = !call.sizes(6).empty();
  } else {
    n.channels = second(call, library ? 0 : 1);
    n.has_weight = !call.sizes(is(call, "group_norm") ? 4 : 2).empty();
    n.has_bias = n.has_weight;
    if (!library && is(call, "batch_norm")) n.training = call.flag(7).value_or(true);
  }
  if (mask.size() == 3) {
    out.input_gradient = mask[0];
    n.has_weight = n.has_weight && (mask[1] || mask[2]);
    n.has_bias = n.has_bias && mask[2];
  }
  return out;
}

// Where input, output, weight and the residual stand: vendors differ.
struct RmsPlaces {
  std::string_view op;
  std::size_t input, weight;
  int tensors = 2;  // as large as the input: read or written
  bool adds = false;
};
constexpr RmsPlaces kRms[] = {{"aten::_fused_rms_norm", 0, 2},
                              {"aten::rms_norm", 0, 2},
                              {"aiter::rms_norm", 0, 1},
                              {"aiter::rmsnorm", 1, 2},
                              {"aiter::rmsnorm2d_fwd", 0, 1},
                              {"aiter::rmsnorm2d_fwd_with_add", 1, 4, 4, true},
                              {"aiter::rmsnorm2d_fwd_with_add_ck", 1, 4, 4, true},
                              {"vllm::rms_norm", 1, 2},
                              {"_C::rms_norm", 1, 2},
                              {"_C::fused_add_rms_norm", 0, 2, 4, true},
                              {"sgl_kernel::rmsnorm", 1, 2},
                              {"sgl_kernel::fused_add_rmsnorm", 0, 2, 4, true}};

}  // namespace

Work norm(const WorkCall& call) {
  const Norm n = forward_of(call);
  if (!n.input->is_tensor() || n.channels <= 0) return uncounted(kOddShapes);
  const double count = n.input->count(), element = bytes_of_type(n.input->type);
  const double rows = 2 + (n.has_weight ? 1 : 0) + (n.has_weight && n.has_bias ? 1 : 0) + (n.training ? 2 : 0);
  return counted(6 * n.channels + (n.training ? 5 : 2) * count, 2 * count * element + rows * n.channels * element);
}

Work norm_backward(const WorkCall& call) {
  const auto [n, input_gradient] = backward_of(call);
  if (!n.input->is_tensor() || n.channels <= 0) return uncounted(kOddShapes);
  const double count = n.input->count(), element = bytes_of_type(n.input->type);
  const double flops = (input_gradient ? (n.training ? 9 : 6) : 6) * count + (n.training ? 0 : 3 * n.channels);
  // The statistics, the weight, and its gradient and that of the bias.
  const double rows = (n.training ? 1 : 0) + (n.has_weight ? 1 + (n.training ? (n.has_bias ? 2 : 1) : 0) : 0);
  return counted(flops, (2 + (input_gradient ? 1 : 0)) * count * element + rows * n.channels * element);
}

Work rms_norm(const WorkCall& call) {
  const auto* at = std::find_if(std::begin(kRms), std::end(kRms), [&](const RmsPlaces& p) { return p.op == call.op; });
  if (at == std::end(kRms) || call.sizes(at->input).empty()) return uncounted(kOddShapes);
  const WorkArgument& input = call.at(at->input);
  const bool has_weight = !call.sizes(at->weight).empty();
  const double count = input.count(), channels = has_weight ? elements(call.sizes(at->weight)) : input.sizes.back();
  const double rows = count / std::max(channels, 1.0);
  const double flops = rows * (2 * channels + 2) + count * ((has_weight ? 2 : 1) + (at->adds ? 1 : 0));
  return counted(flops, (at->tensors * count + (has_weight ? channels : 0)) * bytes_of_type(input.type));
}

Work rms_norm_backward(const WorkCall& call) {
  const WorkArgument& input = call.at(1);
  if (input.sizes.empty()) return uncounted(kOddShapes);
  const bool has_weight = !call.sizes(4).empty();
  std::vector<bool> mask = call.flags(5);
  mask.resize(2, true);
  const double channels = has_weight ? elements(call.sizes(4)) : input.sizes.back();
  const double each = 1 + (has_weight ? 1 : 0) + (mask[0] ? 6 : 0) + (mask[1] && has_weight ? 2 : 0);
  return counted(each * input.count(), (3 * input.count() + (has_weight ? 2 * channels : 0)) * bytes_of_type(input.type));
}

}  // namespace gapscope::work
