// F. GPU use, launches, start-up.
#include "core/diagnose/catalogue.h"

namespace gapscope {

std::span<const Rule* const> gpu_use_rules() { return {}; }

}  // namespace gapscope
