#pragma once
// The slices of a lane in time order, each with the slice that it is in and what it takes of that one's own time.
#include <algorithm>
#include <vector>

#include "core/index/lane_index.h"
#include "core/index/lane_walk.h"
#include "core/trace/trace.h"

namespace gapscope {

// Calls visit(slice, parent, taken) in order of (begin, depth): `parent` as LaneIndex::parent() has it, or none; `taken` is the
// time within `window` that the slice covers and no child of that parent before it does, so that what children take of a parent
// is the union of them: some overlap each other. `parts`: what touches the window, by depth.
template <class Visit>
void walk_with_parents(const Trace& trace, const LaneIndex& lanes, LaneId lane, Span window, const std::vector<RowPart>& parts,
                       Visit visit) {
  struct Open {
    SliceId slice;
    Ns covered_until = 0;  // by its children so far
  };
  std::vector<Open> open(parts.size());
  const bool is_deep = lanes.is_deep(lane);
  walk_parts(trace, parts, [&](SliceId s) {
    const Span span = trace.span_of(s);
    const std::uint32_t depth = trace.depth(s);
    Open* parent = nullptr;
    if (is_deep) {
      if (const SliceId above = lanes.parent(s)) parent = &open[trace.depth(above)];
    } else {
      for (std::uint32_t d = depth; d-- > 0 && !parent;)
        if (open[d].slice && trace.end(open[d].slice) >= span.end && span.begin < trace.end(open[d].slice)) parent = &open[d];
    }
    Ns taken = 0;
    if (parent) {
      const Ns from = std::max(std::max(span.begin, window.begin), parent->covered_until);
      const Ns to = std::min(span.end, window.end);
      taken = std::max<Ns>(to - from, 0);
      parent->covered_until = std::max(parent->covered_until, to);
    }
    const SliceId of = parent ? parent->slice : SliceId{};
    open[depth] = {s, span.begin};
    visit(s, of, taken);
  });
}

}  // namespace gapscope
