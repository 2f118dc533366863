// H. How the recording was made.
#include "core/diagnose/catalogue.h"

namespace gapscope {

std::span<const Rule* const> recording_rules() { return {}; }

}  // namespace gapscope
