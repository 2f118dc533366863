#pragma once
// GPU work at its roofline: how long each kernel would last if it reached a share of its floor (core/analyze/work/floors.h).
#include "core/analyze/work/floors.h"
#include "core/replay/replay.h"

namespace gapscope {

// What well tuned kernels reach of their floor: what a run could have, where the floor itself is out of reach.
constexpr double kNearRoofline = 0.8;

// `reached`: 0..1, 1 is the floor itself. Kernels whose floor is not known, and those that are there already, last as long as
// they did.
Change at_roofline(const ReplayModel& model, const Trace& trace, const WorkTable& table, double reached);

}  // namespace gapscope
