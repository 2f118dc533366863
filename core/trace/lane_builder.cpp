#include "core/trace/lane_builder.h"

#include <algorithm>
#include <limits>

#include "core/base/merge_runs.h"
#include "core/base/room.h"

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
    if (depth == last_.size()) last_.push_back({});
    last_[depth] = {begin, end};
    if (end > begin) open_ = std::max(open_, depth + 1);
    return static_cast<std::uint32_t>(depth);
  }

 private:
  std::size_t below_innermost_encloser(Ns begin, Ns end) const {
    for (std::size_t d = open_; d-- > 0;) {
      if (last_[d].end >= end && last_[d].end > begin) return d + 1;
    }
    return 0;
  }
  // Thousands of empty slices at one instant stand below each other: those that were passed once are not asked again.
  std::size_t first_free(std::size_t depth, Ns begin) {
    if (begin != instant_ || depth < taken_from_ || depth > taken_to_) taken_from_ = taken_to_ = depth;
    instant_ = begin;
    while (!is_free(taken_to_, begin)) ++taken_to_;
    return taken_to_++;
  }
  // An empty slice takes its instant, so that the next one at that instant is not drawn over it.
  bool is_free(std::size_t depth, Ns begin) const {
    return depth >= last_.size() || (last_[depth].end <= begin && last_[depth].begin < begin);
  }

  std::vector<Span> last_;
  std::size_t open_ = 0;  // no slice is open at this depth or deeper
  Ns instant_ = 0;        // at it no depth in [taken_from_, taken_to_) is free
  std::size_t taken_from_ = 0, taken_to_ = 0;
};

void add_saturating(Ns& sum, Ns more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = std::numeric_limits<Ns>::max();
}

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

NestedLane LaneNester::nest(std::span<std::uint32_t> members, std::span<const Ns> begin, std::span<const Ns> end) {
  NestedLane lane;
  deep_depths_.clear();
  if (members.empty()) return lane;
  // A few sorted stretches: writers put operators, frames and annotations one after the other.
  merge_runs(members, spare_, [&](std::uint32_t a, std::uint32_t b) { return begin[a] != begin[b] ? begin[a] < begin[b] : end[a] > end[b]; });

  Nesting nesting;
  make_room(depths_, members.size());
  lane.span = {begin[members.front()], end[members.front()]};
  Ns covered_to = lane.span.begin;
  for (std::size_t i = 0; i < members.size(); ++i) {
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
