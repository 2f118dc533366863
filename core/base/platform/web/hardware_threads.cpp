#include <algorithm>
#include <thread>

#include "core/base/parallel.h"

namespace gapscope {

int hardware_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace gapscope
