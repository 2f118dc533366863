#pragma once
// The GPU work that some of the host's slices launch.
#include <vector>

#include "core/diagnose/facts.h"

namespace gapscope {

struct LaunchedWork {
  std::vector<SliceId> slices;
  Ns time = 0;  // of them all
};
// O(GPU work), and O(n log n) in the slices.
LaunchedWork work_launched_in(const Facts& facts, const std::vector<SliceId>& slices);

}  // namespace gapscope
