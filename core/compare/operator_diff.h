#pragma once
// The operator trees of two sides laid over each other, level by level (align.h): children of matched nodes are matched by
// plain name in order, those of equal name preferably by the names of the GPU work below them. Where compiled regions stand
// on one side only, they and the operators of the other side in the same place are matched as one group, in which the
// operators that launch something are matched again.
#include <atomic>
#include <vector>

#include "core/compare/comparison.h"
#include "core/compare/step_tree.h"

namespace gapscope {

struct OperatorDiff {
  std::vector<OperatorNode> nodes;
  bool in_pieces = false;
};

OperatorDiff diff_operators(const SideData& a, const StepTree& tree_a, const SideData& b, const StepTree& tree_b,
                            const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
