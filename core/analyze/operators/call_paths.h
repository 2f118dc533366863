#pragma once
// The slices of an area merged by call path: equal names under the same parent are one node, and so are all steps, as in
// the profiler table (row_name). Columns, not objects; node 0
// represents everything, its children for lanes, all others for names. Parents come before their children.
//
// By CPU time: every slice of the area's CPU threads under the slices that enclose it (LaneIndex::parent). By GPU time: GPU
// work under the call that launched it and what encloses that; work without a launch under its own GPU lane. Times are cut
// at the area's edges. Which GPU work counts: that of the area's GPU lanes, of all where it has none.
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/analyze/selection/area.h"
#include "core/index/link_index.h"

namespace gapscope {

// module: GPU work under the modules that it belongs to, of the whole trace; see core/analyze/modules/module_paths.h.
enum class PathTime : std::uint8_t { cpu, gpu, module };
enum class PathOrder : std::uint8_t { widest, time };

struct CallPaths {
  std::vector<std::uint32_t> parent;       // of node 0: itself
  std::vector<std::uint32_t> depth;        // 0 of node 0
  std::vector<StringId> name;              // none of node 0 and of lanes; to be shown by its row_name()
  std::vector<SliceId> slice;              // one that the node counts (the first met): for its colour and kind; none as above
  std::vector<LaneId> lane;                // of lanes only
  std::vector<Ns> total, own;              // own: total less what the children of each slice cover; of lanes 0
  std::vector<std::uint64_t> count;        // slices (GPU time: pieces of GPU work) that the node counts itself; 0 of lanes
  std::vector<Ns> begin;                   // of the first slice under it
  std::vector<std::uint32_t> first_child;  // into the two below; one more at the end
  std::vector<std::uint32_t> widest, earliest;  // children in this order

  std::size_t size() const { return parent.size(); }
  std::span<const std::uint32_t> children(std::uint32_t node, PathOrder order) const {
    const auto& all = order == PathOrder::widest ? widest : earliest;
    return std::span(all).subspan(first_child[node], first_child[node + 1] - first_child[node]);
  }
};

// Fills the lists of children from `parent`, `total` and `begin`.
void order_children(CallPaths& paths);

// By CPU or GPU time. Nothing when `cancel` (may be null) turned true on the way.
std::optional<CallPaths> call_paths(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const Area& area,
                                    PathTime time, const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
