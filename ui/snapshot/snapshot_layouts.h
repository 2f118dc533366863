#pragma once
// Where the boxes of a moment of a memory snapshot lie: the flame graph of holders, and the map of segments with their holes.
// What is narrower than a pixel is joined with its neighbours.
#include <cstdint>
#include <vector>

#include "core/snapshot/opened_snapshot.h"

namespace gapscope {

struct HolderBox {
  std::uint32_t node = 0;    // in HolderTree::nodes; of a fold the first of its siblings
  std::uint32_t folded = 0;  // siblings that are too narrow alone; 0: it is the node itself
  std::uint32_t row = 0;
  float x0 = 0, x1 = 0;  // px
};
// Node `zoom` and what encloses it fill the width; of everything else only what is under it is there.
std::vector<HolderBox> holder_boxes(const HolderTree& tree, std::uint32_t zoom, float width_px);

struct MapBox {
  static constexpr std::uint32_t kHole = 0xffff'ffff;
  std::uint32_t held = kHole;        // in SnapshotState::held; of several the first
  std::uint32_t blocks = 1;          // that are joined in it
  std::uint32_t segment = 0;         // in SnapshotState::segments
  std::uint32_t row = 0;             // among those of the whole map
  float x0 = 0, x1 = 0;              // px
  std::uint64_t begin = 0, end = 0;  // addresses
};
struct MapPool {
  std::size_t pool = 0;  // in SnapshotState::pools
  std::uint32_t first_row = 0, rows = 0;
};
struct SegmentMap {
  std::vector<MapPool> pools;  // those with most first
  std::vector<MapBox> boxes;   // by row
  std::uint32_t rows = 0;
  float width = 0;
};
// The largest segment of a pool is as wide as the map; smaller ones stand side by side.
SegmentMap segment_map(const SnapshotState& state, float width_px);

}  // namespace gapscope
