// The table of models: one line a family.
#include "core/analyze/work/work.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/analyze/work/families.h"

namespace gapscope {
namespace {

using namespace work;

constexpr auto kModels = std::to_array<WorkModel>({
    {"aten::mm aten::bmm aten::_int_mm aten::mv aten::dot aten::_scaled_mm aten::addmm aten::_addmm_activation aten::baddbmm "
     "aten::addmv vllm::rocm_unquantized_gemm aiter::gemm_a16w16 aiter::gemm_a16w16_asm aiter::tuned_gemm "
     "aiter::hipb_mm aiter::gemm_a8w8 aiter::gemm_a8w8_ck aiter::gemm_a8w8_blockscale aiter::gemm_a8w8_blockscale_ck "
     "aiter::gemm_a8w8_bpreshuffle aiter::gemm_a8w8_bpreshuffle_ck aiter::gemm_a16w16_atomic_ aiter::wvSplitK "
     "_rocm_C::wvSplitK _rocm_C::LLMM1 _rocm_C::wvSplitKQ vllm::gemm_with_dynamic_quant vllm::w8a8_block_fp8_matmul "
     "primus_turbo::hipblaslt_gemm_fp8 primus_turbo_cpp_extension::hipblaslt_gemm_fp8 aiter::gemm_a4w4 aiter::_gemm_a4w4_asm "
     "aiter::gemm_afp4wfp4 _C::cutlass_scaled_mm _C::cutlass_scaled_mm_azp bitsandbytes::int8_linear_matmul "
     "sgl_kernel::fp8_scaled_mm trtllm::cublas_scaled_mm _Linear_yfwd_mm _LinearBackward_xgrad_mm _LinearBackward_wgrad_mm "
     "_LayerNormLinear_yfwd_mm _LayerNormLinearBackward_xgrad_mm _LayerNormLinearBackward_wgrad_mm",
     product, 0, true, true},
    {"aten::linear", product, 0, true},
    {"aten::_grouped_mm primus_turbo::grouped_gemm primus_turbo::grouped_gemm_impl primus_turbo_cpp_extension::grouped_gemm "
     "primus_turbo_cpp_extension::ck_grouped_gemm",
     grouped_product, 0, true, true},
    {"vllm::moe_forward vllm::moe_forward_shared vllm::rocm_aiter_fused_moe vllm::inplace_fused_experts "
     "vllm::outplace_fused_experts vllm::fused_experts",
     experts, kNeedsKernel | kNeedsMade, true, true},
    {"aten::convolution aten::_convolution aten::cudnn_convolution aten::cudnn_convolution_transpose "
     "aten::cudnn_convolution_relu aten::miopen_convolution aten::miopen_convolution_transpose "
     "aten::miopen_depthwise_convolution aten::_conv_depthwise2d aten::conv_depthwise3d aten::thnn_conv2d "
     "aten::_slow_conv2d_forward ConvBias_ ConvBiasReLU_",
     convolution, kNeedsValues, true, true},
    {"aten::convolution_backward aten::convolution_backward_overrideable aten::cudnn_convolution_backward "
     "aten::miopen_convolution_backward",
     convolution_backward, kNeedsValues, true, true},
    {"aten::_scaled_dot_product_flash_attention aten::_scaled_dot_product_efficient_attention "
     "aten::_scaled_dot_product_cudnn_attention aten::_cudnn_attention_forward aten::_flash_attention_forward "
     "aten::_efficient_attention_forward FlashAttnFunc flash_attn::_flash_attn_forward flash_attn::_flash_attn_varlen_forward "
     "flash_attn_3::fwd aiter::_flash_attn_forward aiter::mha_fwd aiter::fmha_v3_fwd aiter::wrapper_fmha_v3_fwd",
     attention, kNeedsValues, true, true},
    {"aten::scaled_dot_product_attention", attention, kNeedsValues, true},
    {"aten::_scaled_dot_product_flash_attention_backward aten::_scaled_dot_product_efficient_attention_backward "
     "aten::_scaled_dot_product_cudnn_attention_backward aten::_cudnn_attention_backward aten::_flash_attention_backward "
     "aten::_efficient_attention_backward flash_attn::_flash_attn_backward flash_attn::_flash_attn_varlen_backward "
     "aiter::_flash_attn_backward aiter::mha_bwd aiter::wrapper_fmha_v3_bwd",
     attention_backward, kNeedsValues, true, true},
    {"vllm::unified_attention_with_output vllm::unified_attention aiter::mha_varlen_fwd aiter::fmha_v3_varlen_fwd "
     "aiter::mha_batch_prefill sglang_profiler::attention_paged_attention_ragged*",
     paged_attention, kNeedsAnnotation, true, true},
    {"elementwise", elementwise},  // by elementwise_names()
    {"triton_*", triton},
    {"aten::cat aten::stack aten::_chunk_cat aten::split_with_sizes_copy", work::cat, kNeedsKernel},
    {"aten::index_select", index_select, kNeedsValues},
    {"aten::gather aten::take_along_dim", gather},
    {"aten::embedding", embedding},
    {"aten::embedding_dense_backward", embedding_backward, kNeedsValues},
    {"aten::index_put_ aten::_index_put_impl_ aten::scatter_ aten::scatter_add_ aten::index_add_ aten::index_copy_ "
     "aten::scatter aten::masked_scatter_ aten::scatter_reduce_",
     index_put},
    {"aten::index", indexed, kNeedsKernel},
    {"aten::upsample_nearest1d aten::upsample_nearest2d aten::upsample_nearest3d aten::_upsample_nearest_exact1d "
     "aten::_upsample_nearest_exact2d aten::_upsample_nearest_exact3d aten::upsample_linear1d aten::upsample_bilinear2d "
     "aten::upsample_trilinear3d aten::upsample_bicubic2d aten::_upsample_bilinear2d_aa aten::_upsample_bicubic2d_aa "
     "aten::upsample_nearest2d_backward aten::_upsample_nearest_exact2d_backward aten::upsample_bilinear2d_backward "
     "aten::upsample_bicubic2d_backward",
     resample, kNeedsValues},
    {"aten::arange", range, kNeedsValues},
    {"aten::_local_scalar_dense aten::nonzero aten::unfold_backward aten::im2col aten::col2im aten::constant_pad_nd "
     "aten::reflection_pad1d aten::reflection_pad2d aten::replication_pad2d _C::static_scaled_fp8_quant "
     "_C::dynamic_scaled_fp8_quant _C::dynamic_per_token_scaled_fp8_quant _C::silu_and_mul _C::gelu_and_mul "
     "_C::gelu_tanh_and_mul sgl_kernel::silu_and_mul aiter::silu_and_mul",
     every_argument},
    {"_C_cache_ops::reshape_and_cache_flash _C_cache_ops::reshape_and_cache", cache_write},
    {"_C::rotary_embedding", rotary},
    {"aten::_softmax aten::_log_softmax", softmax, kNeedsValues},
    {"aten::_softmax_backward_data aten::_log_softmax_backward_data", softmax_backward, kNeedsValues},
    {"aten::sum aten::mean aten::max aten::min aten::norm aten::linalg_norm aten::linalg_vector_norm aten::std aten::var "
     "aten::logsumexp aten::amin aten::amax aten::any aten::all aten::argmax aten::argmin aten::prod aten::nansum "
     "aten::count_nonzero aten::median aten::mode aten::var_mean aten::std_mean aten::aminmax",
     reduction, kNeedsValues},
    {"aten::cumsum aten::cumprod aten::logcumsumexp aten::cummax aten::cummin aten::_cummax_helper", scan},
    {"aten::sort aten::argsort aten::topk aten::msort aten::_unique2 aten::unique_consecutive", work::sort},
    {"aten::nll_loss_forward aten::nll_loss2d_forward", nll_loss},
    {"aten::nll_loss_backward aten::nll_loss2d_backward", nll_loss_backward},
    {"CrossEntropyFunction", cross_entropy, 0, false, true},
    {"aten::max_pool2d_with_indices aten::max_pool3d_with_indices aten::avg_pool2d aten::avg_pool3d "
     "aten::_adaptive_avg_pool2d aten::_adaptive_avg_pool3d aten::adaptive_max_pool2d",
     pool, kNeedsValues},
    {"aten::max_pool2d_with_indices_backward aten::max_pool3d_with_indices_backward aten::avg_pool2d_backward "
     "aten::_adaptive_avg_pool2d_backward aten::adaptive_max_pool2d_backward",
     pool_backward},
    {"aten::batch_norm aten::native_batch_norm aten::cudnn_batch_norm aten::miopen_batch_norm aten::_batch_norm_with_update "
     "aten::layer_norm aten::native_layer_norm aten::miopen_layer_norm aten::group_norm aten::native_group_norm "
     "aten::instance_norm",
     norm, kNeedsValues, false, true},
    {"aten::native_batch_norm_backward aten::cudnn_batch_norm_backward aten::miopen_batch_norm_backward "
     "aten::native_layer_norm_backward aten::native_group_norm_backward aten::batch_norm_backward",
     norm_backward, kNeedsValues, false, true},
    {"aten::_fused_rms_norm aiter::rms_norm aiter::rmsnorm aiter::rmsnorm2d_fwd aiter::rmsnorm2d_fwd_with_add "
     "aiter::rmsnorm2d_fwd_with_add_ck vllm::rms_norm _C::rms_norm _C::fused_add_rms_norm sgl_kernel::rmsnorm "
     "sgl_kernel::fused_add_rmsnorm",
     rms_norm, 0, false, true},
    {"aten::_fused_rms_norm_backward", rms_norm_backward, kNeedsValues, false, true},
    {"aten::_foreach_*", foreach_list, kNeedsKernel},
    {"aten::_fused_adam_ aten::_fused_adamw_", fused_adam, kNeedsKernel},
    {"aten::_fused_sgd_", fused_sgd, kNeedsKernel},
    {"record_param_comms symm_mem::multimem_all_reduce_ symm_mem::one_shot_all_reduce symm_mem::two_shot_all_reduce_ "
     "_C_custom_ar::all_reduce vllm::all_reduce",
     collective, kNeedsKernel, false, false, true},
});

// By whole name, and by what a name begins with.
struct Lookup {
  std::unordered_map<std::string_view, const WorkModel*> whole;
  std::vector<std::pair<std::string_view, const WorkModel*>> prefixes;
  std::deque<std::string> names;  // that are made here

  Lookup() {
    for (const WorkModel& model : kModels)
      for (std::string_view rest = model.operators; !rest.empty();) {
        const std::string_view name = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        if (name.ends_with('*'))
          prefixes.emplace_back(name.substr(0, name.size() - 1), &model);
        else
          whole.emplace(name, &model);
      }
    const WorkModel* elementwise = whole.at("elementwise");
    for (const std::string_view name : elementwise_names())
      for (const char* prefix : {"aten::", ""})
        for (const char* in_place : {"", "_"})
          if (*prefix || name.starts_with("Liger"))
            whole.emplace(names.emplace_back(prefix + std::string(name) + in_place), elementwise);
  }
};

}  // namespace

const WorkModel* work_model(std::string_view op) {
  static const Lookup lookup;
  if (const auto at = lookup.whole.find(op); at != lookup.whole.end()) return at->second;
  for (const auto& [prefix, model] : lookup.prefixes)
    if (op.starts_with(prefix)) return model;
  return nullptr;
}

Work work_of(const WorkCall& call) {
  const WorkModel* model = work_model(call.op);
  if (!model) return {};
  Work out = model->work(call);
  const auto odd = [](const std::optional<double>& n) { return !n || !(*n >= 0) || *n > 1e30; };
  if (out.why.empty() && (odd(out.flops) || odd(out.bytes))) return uncounted(kOddShapes);
  return out;
}

}  // namespace gapscope
