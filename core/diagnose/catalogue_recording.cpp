// H. How the recording was made.
#include <array>

#include "core/diagnose/catalogue.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {

std::span<const Rule* const> recording_rules() {
  static constexpr std::array kRules = {&no_warmup_schedule,
                                       &too_few_steps,
                                       &occupancy_zero_artifact,
                                       &gpu_ops_without_launch,
                                       &launches_without_gpu_op,
                                       &no_gpu_activity};
  return kRules;
}

}  // namespace gapscope
