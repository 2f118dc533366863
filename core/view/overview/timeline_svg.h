#pragma once
// A stretch of a trace as a picture of lines and boxes: GPU streams above, CPU threads below, as the window draws them. Needs
// no display; its size depends on its width, not on the trace.
#include <string>

#include "core/index/lane_index.h"
#include "core/trace/trace.h"

namespace gapscope {

// The streams and threads with the most slices, each down to a few levels; a level that one slice fills is left out. Empty
// where nothing is in `view`.
std::string timeline_svg(const Trace& trace, const LaneIndex& lanes, Span view);

}  // namespace gapscope
