// A. The profiler table.
#include "core/diagnose/catalogue.h"

namespace gapscope {

std::span<const Rule* const> table_rules() { return {}; }

}  // namespace gapscope
