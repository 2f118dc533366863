#pragma once
// The rows of a file, as their producer means them, become a trace.
#include "core/build/trace_builder.h"
#include "core/trace/trace.h"

namespace gapscope {

// As build_trace(); what is odd about the recording is noted in Trace::doubts, and put right where it can be. False when
// cancelled.
bool make_trace(BuildInput input, Trace& trace);

}  // namespace gapscope
