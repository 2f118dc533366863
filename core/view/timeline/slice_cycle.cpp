#include "core/view/timeline/slice_cycle.h"

#include <algorithm>

namespace gapscope {

std::size_t SliceCycle::position(SliceId slice) const {
  const auto found = std::find(slices.begin(), slices.end(), slice);
  return found == slices.end() ? 0 : static_cast<std::size_t>(found - slices.begin()) + 1;
}

SliceId SliceCycle::next(SliceId from) const {
  if (slices.empty()) return {};
  return slices[position(from) % slices.size()];
}

SliceId SliceCycle::previous(SliceId from) const {
  if (slices.empty()) return {};
  const std::size_t at = position(from);
  return slices[(at <= 1 ? slices.size() : at - 1) - 1];
}

void sort_by_begin(const Trace& trace, std::vector<SliceId>& slices) {
  std::sort(slices.begin(), slices.end(),
            [&](SliceId a, SliceId b) { return trace.begin(a) != trace.begin(b) ? trace.begin(a) < trace.begin(b) : a < b; });
}

}  // namespace gapscope
