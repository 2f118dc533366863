// C. GPU lanes.
#include "core/diagnose/catalogue.h"

namespace gapscope {

std::span<const Rule* const> gpu_lane_rules() { return {}; }

}  // namespace gapscope
