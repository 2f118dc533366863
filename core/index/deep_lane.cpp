#include "core/index/deep_lane.h"

#include <algorithm>
#include <limits>

#include "core/base/counted_steps.h"
#include "core/base/max_tree.h"
#include "core/index/lane_walk.h"

namespace gapscope {
namespace {

constexpr std::size_t kCancelEvery = 1u << 13;
constexpr std::size_t kStepsInTree = 32;  // about two a level

bool is_op(Kind kind) { return kind == Kind::op || kind == Kind::annotation; }

// The last moment a slice covers, as LaneIndex::at() sees it: an empty one its instant.
Ns last_moment(Span s) { return s.empty() ? s.begin : s.end - 1; }

}  // namespace

void DeepLane::Innermost::add(Ns t, SliceId s) {
  if (!slice.empty() && slice.back() == s) return;
  from.push_back(t);
  slice.push_back(s);
}

SliceId DeepLane::Innermost::at(Ns t) const {
  const auto after = std::upper_bound(from.begin(), from.end(), t);
  return after == from.begin() ? SliceId{} : slice[static_cast<std::size_t>(after - from.begin()) - 1];
}

// The last slice of each depth while slices come in order of begin.
class DeepLane::Sweep {
 public:
  Sweep(const Trace& trace, std::size_t depths, Innermost& out) : trace_(trace), out_(out), last_(depths) {
    moments_.resize(depths);
  }

  // The next slice, at `depth`.
  void add(SliceId slice, std::uint32_t depth) {
    const Span span = trace_.span_of(slice);
    if (!is_first_) settle(span.begin);
    is_first_ = false;
    now_ = span.begin;
    last_[depth] = slice;
    moments_.set(depth, last_moment(span));
    steps_.steps += kStepsInTree;
  }
  SliceId last(std::size_t depth) const { return last_[depth]; }
  void finish() {
    if (is_first_) return;
    settle(std::numeric_limits<Ns>::max());
    emit(std::numeric_limits<Ns>::max());
  }

 private:
  // What is innermost from now on until `to`, which begins anew with what is added there.
  void settle(Ns to) {
    while (now_ < to) {
      const Ns last = emit(now_);
      if (last >= to - 1) break;
      now_ = last + 1;
    }
    now_ = to;
  }
  // Until when that is so.
  Ns emit(Ns t) {
    steps_.steps += kStepsInTree;
    const std::size_t depth = moments_.last_at_least(last_.size(), t);
    out_.add(t, depth == MaxTree::kNone ? SliceId{} : last_[depth]);
    return depth == MaxTree::kNone ? std::numeric_limits<Ns>::max() : moments_[depth];
  }

  const Trace& trace_;
  Innermost& out_;
  std::vector<SliceId> last_;
  MaxTree moments_;  // by depth: the last one that its last slice covers
  Ns now_ = 0;
  bool is_first_ = true;
  StepCount steps_;
};

DeepLane::DeepLane(const Trace& trace, LaneId lane, const std::atomic<bool>* cancel) : first_(trace.lane(lane).first_slice) {
  const Lane& of = trace.lane(lane);
  for (std::uint32_t i = of.first_slice; only_ops_ && i < of.first_slice + of.slice_count; ++i)
    only_ops_ = is_op(trace.kind(SliceId(i)));
  parent_.resize(of.slice_count);
  walk(trace, lane, cancel);
  if (cancel == nullptr || !*cancel) gather_children(trace);
}

void DeepLane::walk(const Trace& trace, LaneId lane, const std::atomic<bool>* cancel) {
  const std::size_t depths = trace.lane(lane).depth_count;
  Sweep all(trace, depths, all_), ops(trace, depths, ops_);
  MaxTree ends;  // by depth: the last moment of its last slice that is not empty, which encloses nothing
  ends.resize(depths);
  StepCount steps;
  std::size_t seen = 0;
  bool stopped = false;
  walk_lane(trace, lane, [&](SliceId slice) {
    if (stopped || (seen++ % kCancelEvery == 0 && cancel != nullptr && *cancel)) {
      stopped = true;
      return;
    }
    const std::uint32_t depth = trace.row(slice).depth;
    const Span span = trace.span_of(slice);
    const std::size_t above = ends.last_at_least(depth, last_moment(span));
    parent_[slice.value - first_] = above == MaxTree::kNone ? SliceId{} : all.last(above);
    ends.set(depth, span.empty() ? MaxTree::kLowest : last_moment(span));
    steps.steps += 2 * kStepsInTree;
    all.add(slice, depth);
    if (!only_ops_ && is_op(trace.kind(slice))) ops.add(slice, depth);
  });
  all.finish();
  ops.finish();
}

// Counting sort by parent, of slices in order of id; then each parent's in time order.
void DeepLane::gather_children(const Trace& trace) {
  first_child_.assign(parent_.size() + 1, 0);
  for (const SliceId p : parent_)
    if (p) ++first_child_[p.value - first_ + 1];
  for (std::size_t i = 1; i < first_child_.size(); ++i) first_child_[i] += first_child_[i - 1];
  children_.resize(first_child_.back());
  std::vector<std::uint32_t> next(first_child_.begin(), first_child_.end() - 1);
  for (std::size_t i = 0; i < parent_.size(); ++i)
    if (parent_[i]) children_[next[parent_[i].value - first_]++] = SliceId(first_ + i);
  for (std::size_t i = 0; i + 1 < first_child_.size(); ++i)
    std::sort(children_.begin() + first_child_[i], children_.begin() + first_child_[i + 1],
              [&](SliceId a, SliceId b) { return std::pair(trace.begin(a), a) < std::pair(trace.begin(b), b); });
}

std::span<const SliceId> DeepLane::children(SliceId slice) const {
  const std::size_t at = slice.value - first_;
  return std::span(children_).subspan(first_child_[at], first_child_[at + 1] - first_child_[at]);
}

}  // namespace gapscope
