#pragma once
// What grows from step to step: blocks that are still held, of a stack that left some behind in nearly every step.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/snapshot/replay.h"

namespace gapscope {

// The history in pieces: step i ends before event ends[i]. The last piece may be unfinished.
struct SnapshotSteps {
  std::vector<std::uint32_t> ends;
  bool are_steps = false;  // of the optimizer, as annotations say; else equal parts of the history
};
// Up to `event`, or the whole history. Empty where there are fewer than four.
SnapshotSteps steps_of(const Snapshot& snapshot, const SnapshotDevice& device, std::optional<std::uint32_t> event = {});

struct SnapshotLeak {
  StackId stack = 0;
  std::int64_t bytes = 0;           // held by now, of all steps
  std::int64_t bytes_per_step = 0;  // median of those steps that left something
  std::uint64_t blocks = 0;
  std::uint32_t steps = 0, of_steps = 0;  // steps that left something, of those that could: not the first one, which makes
                                          // what all others use, and not the last one, which may still free
};

// Most bytes first. `state`: at the end of these steps.
std::vector<SnapshotLeak> leaks_of(const SnapshotState& state, const SnapshotSteps& steps);

}  // namespace gapscope
