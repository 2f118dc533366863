#pragma once
// Where the timeline is when a trace opens, when all of it is wanted, and after a jump.
#include "core/trace/trace.h"
#include "core/view/view_state.h"

namespace gapscope {

// All of the trace; of a crop the part that was cut out, without what reaches over its ends; where its threads and GPUs have
// slices in no more than two thirds of that, only these: a mark of the profiler far behind the last kernel would leave the work
// a few pixels.
TimeView first_view(const Trace& trace);

// All that the axis reaches; of a crop alone the part that was cut out.
TimeView whole_view(const TraceView& view, const Trace& trace);

// After a jump to what is too short to be seen, or longer than the axis: goes to where it is seen with what is around it.
void enlarge(TraceView& view, const WindowState& window, Span target, const Trace& trace);

}  // namespace gapscope
