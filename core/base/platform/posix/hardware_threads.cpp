#include <algorithm>
#include <thread>

#include <sched.h>

#include "core/base/parallel.h"

namespace gapscope {

// Of the machine's, those that taskset, Slurm or a container leaves: the standard library counts all. A machine with more than
// a set holds is asked as a whole.
int hardware_threads() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace gapscope
