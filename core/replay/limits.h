#pragma once
// What a replay cannot know, as it is said wherever one is shown. The guide says more (assets/cheatsheet.md, "whatif").
#include <string>

namespace gapscope {

// `profiler`: the share of the run that the profiler's own work may be; not told below 1 %.
std::string replay_limits(double profiler);
// Of an empty model.
extern const char* const kNothingToReplay;

}  // namespace gapscope
