#include "core/analyze/operators/fused_operators.h"

#include <algorithm>
#include <array>

namespace gapscope {
namespace {

// Names of operators that hold underscores, so that a joined list comes apart where it was joined.
constexpr auto kLongNames = std::to_array<std::string_view>({
    "_softmax",
    "_log_softmax",
    "_to_copy",
    "_unsafe_view",
    "_unsafe_index",
    "_unsafe_index_put",
    "_safe_softmax",
    "_softmax_backward_data",
    "_log_softmax_backward_data",
    "_native_batch_norm_legit_functional",
    "_adaptive_avg_pool2d",
    "prepare_softmax_online",
    "native_layer_norm",
    "native_layer_norm_backward",
    "native_batch_norm",
    "native_batch_norm_backward",
    "native_group_norm",
    "native_dropout",
    "native_dropout_backward",
    "layer_norm",
    "batch_norm",
    "group_norm",
    "rms_norm",
    "_fused_rms_norm",
    "constant_pad_nd",
    "max_pool2d_with_indices",
    "max_pool2d_with_indices_backward",
    "avg_pool2d",
    "adaptive_avg_pool2d",
    "gelu_backward",
    "silu_backward",
    "threshold_backward",
    "sigmoid_backward",
    "tanh_backward",
    "leaky_relu",
    "hardtanh_backward",
    "embedding_dense_backward",
    "index_put",
    "index_select",
    "index_add",
    "masked_fill",
    "masked_fill_",
    "select_scatter",
    "slice_scatter",
    "select_backward",
    "slice_backward",
    "scatter_add",
    "scatter_reduce",
    "new_zeros",
    "new_full",
    "new_empty",
    "full_like",
    "zeros_like",
    "ones_like",
    "empty_like",
    "bitwise_and",
    "bitwise_or",
    "bitwise_not",
    "bitwise_xor",
    "logical_and",
    "logical_or",
    "logical_not",
    "logical_xor",
    "convert_element_type",
    "nll_loss_forward",
    "nll_loss_backward",
    "cross_entropy",
    "mse_loss",
    "scaled_dot_product_attention",
    "flex_attention",
    "flex_attention_backward",
    "convolution_backward",
    "linalg_vector_norm",
    "clamp_min",
    "clamp_max",
    "expand_as",
    "view_as",
    "moe_forward",
    "all_reduce",
    "all_gather_into_tensor",
    "reduce_scatter_tensor",
    "wait_tensor",
    "inductor_seeds",
    "inductor_random",
    "inductor_lookup_seed",
    "bernoulli_p",
    "var_mean",
    "std_mean",
    "split_with_sizes",
    "repeat_interleave",
    "as_strided",
    "fill_",
    "copy_",
    "add_",
    "mul_",
    "div_",
    "sub_",
    "amax_",
    "_assert_async",
    "upsample_nearest2d",
    "true_divide",
    "floor_divide",
    "scalar_tensor",
    "masked_select",
    "_foreach_add",
    "_foreach_mul",
});

// The longest known name that the list begins with, else up to the next underscore (its own leading ones included).
std::size_t length_of_first(std::string_view list) {
  std::size_t best = 0;
  for (const std::string_view name : kLongNames) {
    const bool ends_there = list.size() == name.size() || (list.size() > name.size() && list[name.size()] == '_');
    if (list.starts_with(name) && ends_there) best = std::max(best, name.size());
  }
  if (best > 0) return best;
  const std::size_t word = list.find_first_not_of('_');
  if (word == std::string_view::npos) return list.size();
  return std::min(list.find('_', word), list.size());
}

}  // namespace

std::vector<std::string> operators_in(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const std::size_t length = length_of_first(list);
    out.emplace_back(list.substr(0, length));
    list.remove_prefix(std::min(list.size(), length + 1));
  }
  return out;
}

}  // namespace gapscope
