#pragma once
// What modules.cpp works with: the frames of one recording, and the GPU work that belongs to moments in it.
#include <unordered_map>
#include <vector>

#include "core/analyze/modules/modules.h"
#include "core/analyze/modules/nested_slices.h"
#include "core/analyze/modules/work_moments.h"

namespace gapscope {

// A piece of work, or an allocation, at the moment that says whose it is.
struct Charge {
  WorkMoment moment;
  Ns duration = 0;
  bool is_kernel = false;
  std::uint64_t flops = 0;  // of the operator that launched it, on the first piece of that operator alone
  bool has_flops = false;   // on all of them
  std::int64_t bytes = 0, bytes_at_peak = 0;
};

struct ModuleSide {
  ModuleSide(const Trace& t, std::vector<SliceId> slices) : trace(t), frames(t, std::move(slices)), parents(frames.parents()) {}

  const Trace& trace;
  NestedSlices frames;
  std::vector<std::uint32_t> parents;  // by frame
  std::vector<Charge> charges;         // those with a frame
};

constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};

// Adds to `totals` what groups of frames have, each piece of work once a group: all times but self times, which go to the group
// of the innermost frame. `group_of`: by frame, kNoGroup for those that are left out. `counts_calls`: calls and host time too.
void add_totals(const ModuleSide& side, const std::vector<std::uint32_t>& group_of, bool counts_calls,
                std::vector<ModuleTotals>& totals);

// Instances by their place. Grows by the frames that `wanted` names, and those around them.
class ModuleTree {
 public:
  // Node of each frame of the side; kNoGroup for those that are not wanted. `row_of`: by frame.
  std::vector<std::uint32_t> add_frames(const ModuleSide& side, const std::vector<std::uint32_t>& row_of,
                                        const std::vector<bool>& wanted);
  // Adds the side's self times, calls and host times. `node_of`: as add_frames() gave it.
  void add_times(const ModuleSide& side, const std::vector<std::uint32_t>& node_of, bool counts_calls);
  // All of it, with whole times from self times, children ordered by `rank` of their rows.
  std::vector<ModuleNode> finish(const std::vector<std::uint32_t>& rank);

 private:
  std::vector<ModuleNode> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> child_;  // by (parent, row)
};

}  // namespace gapscope
