#pragma once
// What a step has of a time of the run: the mean.
#include <cstddef>

#include "core/base/time.h"

namespace gapscope {

struct StepShare {
  std::size_t steps = 0;  // 0: the run has none, and each() is all of it
  Ns stepped = 0;         // what they have of the run, by the host or by the work launched in them, whichever is longer
  Ns run = 0;

  Ns each(Ns time) const {
    if (steps == 0) return time;
    const bool all = stepped == run || run <= 0;
    const double share = all ? 1 : static_cast<double>(stepped) / static_cast<double>(run);
    return (all ? time : static_cast<Ns>(static_cast<double>(time) * share)) / static_cast<Ns>(steps);
  }
};

}  // namespace gapscope
