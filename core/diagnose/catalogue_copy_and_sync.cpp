// G. Copies, waits, attention, data types.
#include "core/diagnose/catalogue.h"

namespace gapscope {

std::span<const Rule* const> copy_and_sync_rules() { return {}; }

}  // namespace gapscope
