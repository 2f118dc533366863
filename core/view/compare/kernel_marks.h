#pragma once
// What the lanes of two compared traces show of a comparison: which kernels changed, and which only one of the two has. By
// name: the steps that were not compared run the same names.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/compare/comparison.h"
#include "core/view/compare/compare_state.h"

namespace gapscope {

enum class KernelMark : std::uint8_t {
  none,  // not in the compared steps, or no GPU work
  same,
  changed,  // another variant, fused, or run another number of times
  only,     // only this trace has it: added in B, gone in A
};

class KernelMarks {
 public:
  KernelMarks() = default;
  KernelMarks(const Comparison& comparison, TraceSide side, const Trace& trace);
  KernelMark of(StringId name) const { return name.index() < by_name_.size() ? by_name_[name.index()] : KernelMark::none; }
  // Anything but the same kernels.
  bool any() const { return any_; }

 private:
  std::vector<KernelMark> by_name_;  // by StringId; empty while nothing is marked
  bool any_ = false;
};

// GPU operations of the compared steps by what became of them.
struct MarkCounts {
  std::uint32_t changed_a = 0, changed_b = 0, added = 0, gone = 0;
};
MarkCounts mark_counts(const Comparison& comparison);

}  // namespace gapscope
