#pragma once
// What a step has of a time of the run: the mean.
#include <cstddef>

#include "core/base/time.h"

namespace gapscope {

struct StepShare {
  std::size_t steps = 0;  // 0: the run has none, and each() is all of it
  Ns stepped = 0;         // what they have of the run: from the first one's begin to the end of their work
  Ns run = 0;
  Ns between = 0;  // from the first to the last one's end, in none of them and none of their work
  Ns outside = 0;  // of theirs around the run, as from the begin of a pass to its first call: a replay keeps it

  // How long a step is in a run of this length.
  Ns length(Ns of_run) const { return each(of_run) + (steps == 0 ? 0 : outside / static_cast<Ns>(steps)); }
  Ns each(Ns time) const {
    if (steps == 0) return time;
    const bool all = stepped == run || run <= 0;
    const double share = all ? 1 : static_cast<double>(stepped) / static_cast<double>(run);
    return (all ? time : static_cast<Ns>(static_cast<double>(time) * share)) / static_cast<Ns>(steps);
  }
  // Of a run of this length and what is around it: 0..1.
  double part(Ns time, Ns of_run) const {
    const Ns whole = of_run + outside;
    return whole > 0 ? static_cast<double>(time) / static_cast<double>(whole) : 0;
  }
};

}  // namespace gapscope
