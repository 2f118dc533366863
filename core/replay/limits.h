#pragma once
// What a replay cannot know, as it is said wherever one is shown. The guide says more (assets/cheatsheet.md, "whatif").
#include <cstdint>
#include <string>

namespace gapscope {

// `profiler`: the share of the run that the profiler's own work may be; not told below 1 %. `clocks`:
// ReplayModel::clocks_at_once().
std::string replay_limits(double profiler, std::uint32_t clocks = 0);
// Of an empty model.
extern const char* const kNothingToReplay;
// Of a plan with nothing in it.
extern const char* const kNoRemedyToReplay;

}  // namespace gapscope
