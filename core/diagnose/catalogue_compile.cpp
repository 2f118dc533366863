// E. torch.compile and CUDA graphs.
#include <array>

#include "core/diagnose/catalogue.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {

std::span<const Rule* const> compile_rules() {
  static constexpr std::array kRules = {
      &compiled_region, &dynamo_cache_lookup, &aot_prologue, &fx_graph_cache_hit, &compile_cpu_tax, &compile_inside_window,
      &fake_tensor_ops, &compiled_region_no_kernels, &triton_fused_kernel, &cuda_graph_launch, &cudagraph_input_copy,
      &cudagraph_little_work, &recompilation, &graph_breaks, &autotuning_in_window, &compile_nothing_to_fuse,
      &few_sms_for_max_autotune};
  return kRules;
}

}  // namespace gapscope
