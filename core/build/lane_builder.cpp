#include "core/build/lane_builder.h"

#include <algorithm>
#include <limits>

#include "core/base/counted_steps.h"
#include "core/base/max_tree.h"
#include "core/base/merge_runs.h"
#include "core/base/saturating.h"
#include "core/base/scratch.h"

namespace gapscope {
namespace {

// The last slice of each depth while slices arrive in (begin, longer first) order.
class Nesting {
 public:
  // The depth of the slice [begin, end). Begins must not decrease.
  std::uint32_t place(Ns begin, Ns end, std::uint32_t& overlapping) {
    while (open_ > 0 && last_[open_ - 1].end <= begin) --open_;
    std::size_t depth = open_;
    if (open_ > 0 && last_[open_ - 1].end < end) {
      ++overlapping;
      depth = below_innermost_encloser(begin, end);
    }
    depth = first_free(depth, begin);
    put(depth, {begin, end});
    if (end > begin) open_ = std::max(open_, depth + 1);
    return static_cast<std::uint32_t>(depth);
  }

 private:
  // Depths looked at one by one before the trees are asked: recordings have no more.
  static constexpr std::size_t kNear = 128;

  // The last nanosecond that a slice takes: an empty one its instant, so that the next one there is not drawn over it.
  static Ns last_moment(Span s) { return s.empty() ? s.begin : s.end - 1; }

  std::size_t below_innermost_encloser(Ns begin, Ns end) {
    const std::size_t far = open_ > kNear ? open_ - kNear : 0;
    for (std::size_t d = open_; d-- > far;) {
      ++count_.steps;
      if (last_[d].end >= end && last_[d].end > begin) return d + 1;
    }
    if (far == 0) return 0;
    grow_trees();
    count_.steps += kStepsInTree;
    return encloses_.last_at_least(far, last_moment({begin, end})) + 1;  // none: depth 0
  }
  std::size_t first_free(std::size_t depth, Ns begin) {
    const std::size_t far = depth + kNear;
    for (; depth < far; ++depth) {
      ++count_.steps;
      if (depth >= last_.size() || last_moment(last_[depth]) < begin) return depth;
    }
    if (depth >= last_.size()) return depth;
    grow_trees();
    count_.steps += kStepsInTree;
    return std::min(free_.first_at_least(depth, ~(begin - 1)), last_.size());
  }

  void put(std::size_t depth, Span slice) {
    if (depth == last_.size()) last_.push_back({});
    last_[depth] = slice;
    if (free_.size() == 0) return;
    if (free_.size() < last_.size()) grow_trees();
    put_in_trees(depth);
  }
  // From the first far search on they stay up to date.
  void grow_trees() {
    std::size_t known = free_.size();
    encloses_.resize(last_.size());
    free_.resize(last_.size());
    for (; known < last_.size(); ++known) put_in_trees(known);
  }
  void put_in_trees(std::size_t depth) {
    const Span s = last_[depth];
    encloses_.set(depth, s.empty() ? MaxTree::kLowest : last_moment(s));
    free_.set(depth, ~last_moment(s));  // what turns the order round and cannot overflow
    count_.steps += kStepsInTree;
  }

  static constexpr std::size_t kStepsInTree = 32;  // about two a level

  std::vector<Span> last_;
  std::size_t open_ = 0;  // no slice is open at this depth or deeper
  MaxTree encloses_;      // by depth: the last moment of a slice that is not empty
  MaxTree free_;          // by depth: from the moment whose complement this is no longer taken
  StepCount count_;
};

}  // namespace

void LaneNester::keep_depth(std::size_t member, std::uint32_t depth, std::size_t members) {
  if (deep_depths_.empty()) {
    if (depth <= std::numeric_limits<std::uint16_t>::max()) {
      depths_[member] = static_cast<std::uint16_t>(depth);
      return;
    }
    deep_depths_.resize(members);
    std::copy_n(depths_.begin(), member, deep_depths_.begin());
  }
  deep_depths_[member] = depth;
}

NestedLane LaneNester::nest(std::span<std::uint32_t> members, std::span<const Ns> begin, std::span<const Ns> end,
                            const std::atomic<bool>* cancel) {
  NestedLane lane;
  deep_depths_.clear();
  if (members.empty()) return lane;
  // A few sorted stretches: writers put operators, frames and annotations one after the other.
  const auto cancelled = [cancel] { return cancel != nullptr && cancel->load(std::memory_order_relaxed); };
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return begin[a] != begin[b] ? begin[a] < begin[b] : end[a] > end[b];
  };
  merge_runs(members, spare_, before, cancelled);

  Nesting nesting;
  grow_scratch(depths_, members.size());
  lane.span = {begin[members.front()], end[members.front()]};
  Ns covered_to = lane.span.begin;
  constexpr std::size_t kCancelEvery = 1u << 13;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i % kCancelEvery == 0 && cancelled()) return lane;
    const Ns b = begin[members[i]];
    const Ns e = end[members[i]];
    const std::uint32_t overlapping = lane.overlapping;
    const std::uint32_t depth = nesting.place(b, e, lane.overlapping);
    keep_depth(i, depth, members.size());
    if (overlapping == 0 && lane.overlapping == 1) lane.first_overlapping = members[i];
    if (depth >= lane.row_counts.size()) lane.row_counts.resize(depth + 1, 0);
    ++lane.row_counts[depth];
    add_saturating(lane.total_dur, e - b);
    if (e > covered_to) {
      lane.busy += e - std::max(b, covered_to);
      covered_to = e;
    }
    lane.span.end = std::max(lane.span.end, e);
  }
  return lane;
}

}  // namespace gapscope
