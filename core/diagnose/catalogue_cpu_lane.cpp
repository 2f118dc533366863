// B. CPU lanes.
#include <array>

#include "core/diagnose/catalogue.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {

std::span<const Rule* const> cpu_lane_rules() {
  static constexpr std::array kRules = {&first_step_slow,
                                       &annotation_first_op_gap,
                                       &occupancy_query_before_launch,
                                       &launch_without_occupancy_query,
                                       &heavyweight_kernel,
                                       &final_device_sync,
                                       &sync_covers_little_gpu_work,
                                       &hidden_memcpy};
  return kRules;
}

}  // namespace gapscope
