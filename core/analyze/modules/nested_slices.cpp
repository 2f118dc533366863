#include "core/analyze/modules/nested_slices.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace gapscope {

NestedSlices::NestedSlices(const Trace& trace, std::vector<SliceId> slices) : trace_(trace), slices_(std::move(slices)) {
  const auto before = [&](SliceId a, SliceId b) {
    const auto key = [&](SliceId s) {
      return std::tuple(trace_.lane_id(s), trace_.begin(s), ~trace_.end(s), trace_.slices.offset[s.index()], s);
    };
    return key(a) < key(b);
  };
  std::sort(slices_.begin(), slices_.end(), before);
}

// Times go up, so that what has ended on top of the stack never covers a moment again; and what is on top of it came last in
// the order of the slices, which makes it the innermost.
std::vector<std::uint32_t> NestedSlices::innermost(std::span<const Moment> moments) const {
  std::vector<std::uint32_t> order(moments.size()), found(moments.size(), kNone), stack;
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(moments[a].lane, moments[a].time) < std::tuple(moments[b].lane, moments[b].time);
  });
  std::uint32_t next = 0;
  LaneId lane;
  for (const std::uint32_t m : order) {
    const Moment& moment = moments[m];
    if (moment.lane != lane) {
      lane = moment.lane;
      stack.clear();
      while (next < size() && this->lane(next) < lane) ++next;
    }
    for (; next < size() && this->lane(next) == lane && trace_.begin(slices_[next]) <= moment.time; ++next)
      stack.push_back(next);
    while (!stack.empty() && trace_.end(slices_[stack.back()]) <= moment.time) stack.pop_back();
    if (!stack.empty()) found[m] = stack.back();
  }
  return found;
}

std::vector<std::uint32_t> NestedSlices::parents() const {
  std::vector<std::uint32_t> found(size(), kNone), stack;
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (i > 0 && lane(i) != lane(i - 1)) stack.clear();
    while (!stack.empty() && trace_.end(slices_[stack.back()]) <= trace_.begin(slices_[i])) stack.pop_back();
    if (!stack.empty()) found[i] = stack.back();
    stack.push_back(i);
  }
  return found;
}

}  // namespace gapscope
