#pragma once
// The view of a document carried over to a larger one of the same file: what is selected, folded and visible stays where
// it is while the rest of the file arrives.
#include "core/view/view_state.h"

namespace gapscope {

struct Document;

// The lane of `to` that is the same line of work as `lane` of `from`, or none.
LaneId same_lane(const Trace& from, LaneId lane, const Trace& to);
// The slice of `to` that is the same event as `slice` of `from`, or none. O(depths * log n).
SliceId same_slice(const Trace& from, SliceId slice, const Trace& to);

// Changes `view` of `from` into one of `to`. The visible time stays, but a view of the whole stays one of the whole.
// Scrolling is the timeline's, which knows where lanes lie.
void grow_view(TraceView& view, const Trace& from, const Trace& to);

}  // namespace gapscope
