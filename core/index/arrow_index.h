#pragma once
// Arrows by the time of their ends, for a whole screen of them: how many start in a stretch of time, and an even, stable
// choice of those with an end in it. O(log n + chosen), whatever the trace's size.
//
// The choice: time is cut into buckets whose length is a power of two, anchored at 0, and each bucket gives its few
// arrows of highest priority. Priority is a hash of the arrow's position, so a choice never depends on where the view
// is: panning neither adds nor drops an arrow in sight, and a bucket cut in two by zooming in keeps all it had.
#include <cstdint>
#include <utility>
#include <vector>

#include "core/index/link_index.h"

namespace gapscope {

struct Arrow {
  SliceId from;
  SliceId to;
  StringId category;  // of a flow; none for a launch joined by correlation
  friend bool operator==(const Arrow& a, const Arrow& b) { return a.from == b.from && a.to == b.to; }
};

enum class ArrowGroup : std::uint8_t { launches, forward_backward, other };
constexpr std::size_t kArrowGroups = 3;

constexpr int kArrowBuckets = 32;  // at least that many in the visible stretch, less than twice that

// The buckets that `visible` touches, whole: what a choice depends on.
struct ArrowBuckets {
  Ns length = 0;
  Ns begin = 0, end = 0;
  friend bool operator==(const ArrowBuckets&, const ArrowBuckets&) = default;
};
ArrowBuckets arrow_buckets(Span visible);

class ArrowIndex {
 public:
  // Holds a reference to the trace, which must outlive it.
  ArrowIndex(const Trace& trace, const LinkIndex& links);

  std::size_t count(ArrowGroup group) const { return of(group).arrows.size(); }
  // Arrows whose first slice begins in `visible`.
  std::size_t starting_in(ArrowGroup group, Span visible) const;
  // Appends arrows with an end in `visible`: for each of its buckets up to `most` that start and `most` that end there.
  void choose(ArrowGroup group, Span visible, std::size_t most, std::vector<Arrow>& out) const;

 private:
  // Positions of arrows ordered by the time of one of their ends. Level k holds those of the highest priorities, about
  // one in 2^k; level 0 all.
  using Levels = std::vector<std::vector<std::uint32_t>>;
  struct Ends {
    SliceId Arrow::*end = &Arrow::from;
    Levels levels;
  };
  struct Group {
    std::vector<Arrow> arrows;
    Ends starts, arrivals;
  };
  const Group& of(ArrowGroup group) const { return groups_[static_cast<std::size_t>(group)]; }
  Ns time_of(const Group& group, const Ends& ends, std::uint32_t arrow) const {
    return trace_.begin(group.arrows[arrow].*ends.end);
  }
  void order(const Group& group, Ends& ends) const;
  std::pair<std::size_t, std::size_t> inside(const Group& group, const Ends& ends, std::size_t level, Span span) const;
  void choose_in(const Group& group, const Ends& ends, Span bucket, std::size_t most, std::vector<std::uint32_t>& out) const;

  const Trace& trace_;
  std::vector<Group> groups_;
};

}  // namespace gapscope
