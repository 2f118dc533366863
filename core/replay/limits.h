#pragma once
// What a replay cannot know, as it is said wherever one is shown. The guide says more (assets/guide/what-if.md).
#include <cstddef>
#include <cstdint>
#include <string>

namespace gapscope {

class ReplayModel;
struct Change;

// `profiler`: the share of the run that the profiler's own work may be; not printed below 1 %. `clocks`:
// ReplayModel::clocks_at_once().
// `plain`: of the program without its profiler.
std::string replay_limits(double profiler, std::uint32_t clocks = 0, bool plain = false);
// Waits of the host for the GPU between the first and the last launch of a step, or of the run where it has none: a capture
// allows none. Those that the change frees do not count.
std::size_t waits_between_launches(const ReplayModel& model, const Change& change);
// ", after removing 7 synchronizations a step": of the launches of each of so many steps as one graph; `steps` may be 0. Empty
// without any.
std::string once_waits_are_gone(std::size_t waits, std::size_t steps);
// Of an empty model.
extern const char* const kNothingToReplay;
// Of a plan with nothing in it.
extern const char* const kNoRemedyToReplay;

}  // namespace gapscope
