// B. CPU lanes.
#include "core/diagnose/catalogue.h"

namespace gapscope {

std::span<const Rule* const> cpu_lane_rules() { return {}; }

}  // namespace gapscope
