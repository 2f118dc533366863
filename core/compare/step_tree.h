#pragma once
// What is in the steps of one side as one tree: step > annotation and operator > launch > GPU work. Python frames and calls
// that start nothing are left out; what other threads did in the meantime (the backward pass) follows the step's own thread.
#include <cstdint>
#include <string>
#include <vector>

#include "core/compare/plain_name.h"
#include "core/compare/side_reader.h"

namespace gapscope {

enum class TreeKind : std::uint8_t { step, op, call, gpu };

// Nodes lie parents first: those below node i are [i + 1, end).
struct TreeNode {
  TreeKind kind = TreeKind::op;
  bool compiled = false;       // a Torch-Compiled Region
  std::uint64_t name_key = 0;  // of the plain name
  std::uint64_t work_key = 0;  // of the names of the GPU work below, in order
  SliceId slice;
  std::uint32_t parent = 0;
  std::uint32_t end = 0;
  std::uint32_t depth = 0;
  Ns cpu = 0, gpu = 0;
  std::uint32_t kernels = 0, launches = 0;
};

struct StepTree {
  std::vector<TreeNode> nodes;  // [0] is the step, or all steps
  bool cut = false;             // deeper nodes than fit are counted in their ancestors only
};

// Beyond these the deepest levels are left out: a tree too deep to read, and comparisons too slow to wait for.
constexpr std::size_t kMostOperators = 1'000'000;
constexpr std::uint32_t kMostTreeDepth = 400;

StepTree step_tree(const SideData& data, PlainNameKeys& keys, std::size_t most = kMostOperators);

}  // namespace gapscope
