#pragma once
// Where the boxes of a flame graph lie: a row for each depth, a box for each call path, as wide as its share of time.
// What is narrower than a pixel is folded with its neighbours, so there are at most two boxes a pixel in a row.
#include <cstdint>
#include <vector>

#include "core/analyze/operators/call_paths.h"

namespace gapscope {

struct FlameBox {
  std::uint32_t node = 0;    // of a fold: the first of its siblings
  std::uint32_t folded = 0;  // siblings in the box that are too narrow alone; 0: it is the node itself
  std::uint32_t row = 0;     // depth
  float x0 = 0, x1 = 0;      // px, x0 < x1
  Ns total = 0;
};

// Node `zoom` and what encloses it fill the width; of everything else only what is under it is there. Children that
// together take longer than their parent (slices that overlap without nesting) share its width.
std::vector<FlameBox> lay_out_flame(const CallPaths& paths, PathOrder order, std::uint32_t zoom, float width_px);

}  // namespace gapscope
