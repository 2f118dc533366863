#pragma once
// Which lane of one of two compared traces represents which of the other, and what is folded, pinned and hidden in the one
// done to the other. A heuristic: lanes of two runs have no common key but their titles and their order.
#include <vector>

#include "core/trace/trace.h"
#include "core/view/timeline/lane_folds.h"

namespace gapscope {

// By the ids of one trace, those of the other; none where there is no partner. GPUs are paired in the order in which they
// are shown (ranks have other numbers), other processes and lanes by their titles without digits and, of several alike, in
// order; equal titles first.
struct LanePartners {
  std::vector<ProcessId> process;
  std::vector<LaneId> lane;
};
LanePartners partners_of(const Trace& from, const LaneFolds& shown_from, const Trace& to, const LaneFolds& shown_to);

// What became of `before` in `now` is done to `other`, where lanes have partners; what was the same stays as it is there.
void mirror_folds(const LaneFolds& before, const LaneFolds& now, const LanePartners& partners, LaneFolds& other);

}  // namespace gapscope
