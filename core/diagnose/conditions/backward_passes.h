#pragma once
// The backward passes of a recording, as autograd's threads run them.
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "core/diagnose/facts.h"

namespace gapscope {

// A function of the backward pass: "autograd::engine::evaluate_function: MmBackward0".
struct BackwardNode {
  SliceId slice;
  std::int64_t sequence = -1;  // of the forward operator; none for a parameter's gradient
  bool is_parameter = false;   // AccumulateGrad
};
// The outermost nodes of one pass in time order.
using BackwardPass = std::vector<BackwardNode>;

// In time order by thread. autograd runs the ready node with the highest number, and what it makes ready has lower ones, so
// within one pass numbers fall: where they rise another pass begins.
std::vector<BackwardPass> backward_passes(const Facts& facts);
// The operators called `name`, "aten::index", that functions with these numbers are the backward pass of.
std::vector<SliceId> forward_operators(const Facts& facts, std::string_view name, const std::set<std::int64_t>& numbers);

}  // namespace gapscope
