// C. GPU lanes.
#include <array>

#include "core/diagnose/catalogue.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {

std::span<const Rule* const> gpu_lane_rules() {
  static constexpr std::array kRules = {&activity_buffer_request,
                                       &gpu_gap_in_step,
                                       &kernel_time_varies,
                                       &gemm_kernel_name,
                                       &dtod_before_gemm};
  return kRules;
}

}  // namespace gapscope
