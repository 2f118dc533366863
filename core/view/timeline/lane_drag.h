#pragma once
// A lane or a process that is being dragged by its title to another place in the order.
#include <optional>

#include "core/view/timeline/lane_folds.h"
#include "core/view/timeline/lane_layout.h"

namespace gapscope {

struct LaneDrag {
  LaneId lane;        // of a lane
  ProcessId process;  // of a process: `lane` is none then
  bool active() const { return lane.valid() || process.valid(); }
};

// Between which bands it would fall: px from the top of the lanes, and next to which one that is.
struct LaneDrop {
  float y = 0;
  LaneId lane;
  ProcessId process;
  bool after = false;
};

// The place nearest to `y`: for a lane among those of its process, or among the pinned ones; for a process before or after
// another. None where that is where it is already.
std::optional<LaneDrop> drop_at(const LaneLayout& layout, const LaneDrag& drag, float y);
void drop(LaneFolds& folds, const LaneDrag& drag, const LaneDrop& at);

}  // namespace gapscope
