// F. GPU use, launches, start-up.
#include <array>

#include "core/diagnose/catalogue.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {

std::span<const Rule* const> gpu_use_rules() {
  static constexpr std::array kRules = {
      &low_gpu_utilization, &low_sm_fill, &small_grid, &grid_covers_sms, &low_occupancy, &many_small_kernels,
      &single_large_kernel, &dispatch_heavy_few_kernels, &unfused_elementwise_chain, &gpu_backlog, &cpu_gpu_lane_offset,
      &lazy_module_loading, &cuda_malloc_in_window};
  return kRules;
}

}  // namespace gapscope
