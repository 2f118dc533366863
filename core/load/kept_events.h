#pragma once
// Which events of a file belong to the slices that a crop keeps: a first walk over the file, for flows and half slices, whose
// events alone do not say which slice they are about.
#include <atomic>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/load/event_walk.h"
#include "core/trace/crop_choice.h"
#include "core/trace/trace.h"

namespace gapscope {

// The lanes of a walk in the trace's numbers: local ids to LaneId, none where the trace has no such lane.
class LanesOfWalk {
 public:
  LanesOfWalk(const Trace& trace, const CropChoice& choice);
  LaneId lane(const LocalTables& tables, std::uint32_t local);
  // Instants of the lane (counters of its process) are wanted.
  bool lane_wanted(const LocalTables& tables, std::uint32_t local);
  bool process_wanted(const LocalTables& tables, std::uint32_t local);

 private:
  const CropChoice& choice_;
  std::unordered_map<std::string, LaneId> lanes_;
  std::unordered_map<std::string, bool> processes_;
};

// Offsets of all saved slices, flows and halves, ascending. `choice` is not everything.
Result<std::vector<std::uint64_t>> kept_offsets(const Trace& trace, const CropChoice& choice, ByteSource& source,
                                                std::atomic<bool>* cancel);

// Whether the trace holds events that need that walk; without, the slices' own offsets say it all.
bool needs_walk(const Trace& trace);
std::vector<std::uint64_t> offsets_of_slices(const Trace& trace, const CropChoice& choice);

}  // namespace gapscope
