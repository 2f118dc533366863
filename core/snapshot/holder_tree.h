#pragma once
// Held memory by call stack, the outermost frame first: what a flame graph draws.
#include <cstdint>
#include <string>
#include <vector>

#include "core/snapshot/holders.h"

namespace gapscope {

struct HolderNode {
  static constexpr std::uint32_t kNoFrame = 0xffff'ffff;
  std::uint32_t frame = kNoFrame;  // in Snapshot::frames; none: the root, and stacks without a frame
  std::uint32_t parent = 0;
  std::uint32_t first_child = 0, children = 0;  // next to each other, most bytes first
  std::uint32_t depth = 0;                      // 0: the root
  bool before_history = false;
  std::int64_t bytes = 0;  // with those of the children
  std::uint64_t blocks = 0;
};

struct HolderTree {
  std::vector<HolderNode> nodes;  // the root first; it alone where nothing is held
  std::uint32_t depth = 0;        // of the deepest
};

// Of a stack its Python frames, or all where it has none. The stacks that hold least have no nodes of their own where there
// would be more than half a million.
HolderTree holder_tree(const Snapshot& snapshot, const std::vector<StackHolder>& stacks);
std::string node_words(const Snapshot& snapshot, const HolderNode& node);

}  // namespace gapscope
