#include "core/view/timeline/shown_neighbours.h"

#include <algorithm>

#include "core/analyze/steps.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

// The lane's rows without Python, where that is what is shown and the slice is in them.
const ArrangedLane* arranged_of(const Document& document, const LaneFolds& folds, SliceId slice) {
  const Arrangements* all = document.arrangements();
  const LaneId lane = document.trace.lane_id(slice);
  if (!all || !is_python_folded(folds, lane) || document.trace.kind(slice) == Kind::python) return nullptr;
  return all->without_python[lane.index()].get();
}

SliceId neighbour(const Document& document, const ArrangedLane& lane, SliceId slice, std::ptrdiff_t step) {
  const std::optional<std::uint32_t> depth = lane.depth_of(slice, document.trace.begin(slice));
  if (!depth) return {};
  const RowSlices row = lane.row(*depth);
  const auto at =
      std::find(row.ids.begin() +
                    (std::lower_bound(row.begin.begin(), row.begin.end(), document.trace.begin(slice)) - row.begin.begin()),
                row.ids.end(), slice) -
      row.ids.begin() + step;
  return at < 0 || at >= std::ssize(row.ids) ? SliceId{} : row.ids[static_cast<std::size_t>(at)];
}

bool is_folded_frame(const Document& document, SliceId slice) { return document.trace.kind(slice) == Kind::python; }

}  // namespace

SliceId shown_next(const Document& document, const LaneFolds& folds, SliceId slice) {
  const ArrangedLane* lane = arranged_of(document, folds, slice);
  return lane ? neighbour(document, *lane, slice, 1) : document.lanes.next_in_row(slice);
}

SliceId shown_previous(const Document& document, const LaneFolds& folds, SliceId slice) {
  const ArrangedLane* lane = arranged_of(document, folds, slice);
  return lane ? neighbour(document, *lane, slice, -1) : document.lanes.previous_in_row(slice);
}

SliceId shown_parent(const Document& document, const LaneFolds& folds, SliceId slice) {
  SliceId parent = document.lanes.parent(slice);
  if (!arranged_of(document, folds, slice)) return parent;
  while (parent.valid() && is_folded_frame(document, parent)) parent = document.lanes.parent(parent);
  return parent;
}

// Depth first, so that what a folded frame calls first is found below it.
SliceId shown_child(const Document& document, const LaneFolds& folds, SliceId slice) {
  const bool folded = arranged_of(document, folds, slice) != nullptr;
  for (const SliceId child : document.lanes.children(slice)) {
    if (!folded || !is_folded_frame(document, child)) return child;
    std::vector<SliceId> open{child};
    while (!open.empty()) {
      const SliceId next = open.back();
      open.pop_back();
      if (!is_folded_frame(document, next)) return next;
      const std::vector<SliceId> below = document.lanes.children(next);
      open.insert(open.end(), below.rbegin(), below.rend());
    }
  }
  return {};
}

SliceId shown_cause(const Document& document, const LaneFolds& folds, SliceId slice) {
  const Trace& trace = document.trace;
  if (is_on_gpu(trace.kind(slice))) {
    if (const SliceId call = document.links.call_of(slice)) return call;
  }
  if (const SliceId parent = shown_parent(document, folds, slice)) return parent;
  for (const SliceId step : profiler_steps(trace)) {
    if (step == slice) return {};
    const Span span = trace.span_of(step);
    if (span.begin <= trace.begin(slice) && trace.begin(slice) < span.end) return step;
  }
  return {};
}

SliceId shown_effect(const Document& document, const LaneFolds& folds, SliceId slice) {
  if (const SliceId child = shown_child(document, folds, slice)) return child;
  const auto launched = document.links.launched_by(slice);
  return launched.empty() ? SliceId{} : launched.front();
}

}  // namespace gapscope
