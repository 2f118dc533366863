// Work on lists of tensors: an operation an element of the list; each list read once, the one that is changed (or made)
// written.
#include <algorithm>

#include "core/analyze/work/families.h"

namespace gapscope::work {
namespace {

// PyTorch leaves out the sizes of long lists, and the types of all.
double elements_of(const WorkCall& call) {
  const double stated = list_elements(call.at(0));
  return stated > 0 ? stated : call.list_elements;
}

double lists_of(const WorkCall& call) {
  return static_cast<double>(
      std::count_if(call.arguments.begin(), call.arguments.end(), [](const WorkArgument& a) { return a.is_list(); }));
}

std::string_view after_foreach(std::string_view op) {
  op.remove_prefix(std::min(op.size(), op.find("_foreach_") + 9));
  return op;
}

Work by_elements(const WorkCall& call, double flops, double passes) {
  const double count = elements_of(call), element = bytes_of_kernel(call.kernel);
  if (count <= 0) return uncounted(kLongList);
  return element > 0 ? counted(flops * count, passes * count * element) : uncounted(kOddShapes);
}

}  // namespace

Work foreach_list(const WorkCall& call) {
  const std::string_view name = after_foreach(call.op);
  if (name.starts_with("zero")) return by_elements(call, 0, 1);
  if (name.starts_with("norm") || name.starts_with("max")) return by_elements(call, 1, 1);
  if (name.starts_with("copy")) return by_elements(call, 0, 2);
  return by_elements(call, name.starts_with("addcdiv") || name.starts_with("addcmul") || name.starts_with("lerp") ? 3 : 1,
                     lists_of(call) + 1);
}

// Parameter, gradient and both moments read; all but the gradient written. Moments 3 and 4 operations, the step 5.
Work fused_adam(const WorkCall& call) { return by_elements(call, 12, call.at(4).list.empty() ? 7 : 9); }

// Parameter and gradient read, parameter written; the momentum read and written.
Work fused_sgd(const WorkCall& call) { return by_elements(call, call.at(2).is_list() ? 4 : 2, call.at(2).is_list() ? 5 : 3); }

}  // namespace gapscope::work
