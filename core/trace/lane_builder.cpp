#include "core/trace/lane_builder.h"

#include <algorithm>
#include <limits>

#include "core/base/column.h"
#include "core/base/merge_runs.h"

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

NestedLane nest_lane(std::span<std::uint32_t> members, std::span<const Ns> begin, std::span<const Ns> end,
                     const std::function<void(std::span<const std::uint32_t>)>& visit_sorted) {
  NestedLane lane;
  if (members.empty()) return lane;
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return begin[a] != begin[b] ? begin[a] < begin[b] : end[a] > end[b]; };
  if (!std::is_sorted(members.begin(), members.end(), before)) {
    // A few sorted stretches: writers put operators, frames and annotations one after the other.
    Column<std::uint32_t> sorted(members.begin(), members.end()), spare;
    merge_runs(sorted, spare, before);
    std::copy(sorted.begin(), sorted.end(), members.begin());
  }
  if (visit_sorted) visit_sorted(members);

  Nesting nesting;
  std::vector<std::uint32_t> depths(members.size());
  lane.span = {begin[members.front()], end[members.front()]};
  Ns covered_to = lane.span.begin;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Ns b = begin[members[i]];
    const Ns e = end[members[i]];
    const std::uint32_t overlapping = lane.overlapping;
    depths[i] = nesting.place(b, e, lane.overlapping);
    if (overlapping == 0 && lane.overlapping == 1) lane.first_overlapping = members[i];
    if (depths[i] >= lane.row_counts.size()) lane.row_counts.resize(depths[i] + 1, 0);
    ++lane.row_counts[depths[i]];
    add_saturating(lane.total_dur, e - b);
    if (e > covered_to) {
      lane.busy += e - std::max(b, covered_to);
      covered_to = e;
    }
    lane.span.end = std::max(lane.span.end, e);
  }
  if (lane.row_counts.size() == 1) return lane;

  std::vector<std::uint32_t> next(lane.row_counts.size(), 0);
  for (std::size_t d = 1; d < next.size(); ++d) next[d] = next[d - 1] + lane.row_counts[d - 1];
  std::vector<std::uint32_t> by_depth(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) by_depth[next[depths[i]]++] = members[i];
  std::copy(by_depth.begin(), by_depth.end(), members.begin());
  return lane;
}

}  // namespace gapscope
