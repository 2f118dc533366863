#pragma once
// Where the timeline stands when a trace opens.
#include "core/trace/trace.h"
#include "core/view/view_state.h"

namespace gapscope {

// All of the trace; of a crop the part that was cut out, without what reaches over its ends; where its threads and GPUs have
// slices in no more than two thirds of that, only these: a mark of the profiler far behind the last kernel would leave the work
// a few pixels.
TimeView first_view(const Trace& trace);

}  // namespace gapscope
