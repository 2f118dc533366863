#pragma once
// Where one call of compiled code ended and Python ran until the next.
//
// What follows a break is called from inside the piece before it: a region in the region of another frame; its own work ends
// with its compiled graph. Pieces side by side under one caller are a break only where a frame of the file resumes, or nothing
// is launched between the two: functions compiled apart look the same.
#include <vector>

#include "core/index/link_index.h"

namespace gapscope {

struct GraphBreak {
  SliceId from, to;  // regions
  Span between;      // from the end of the first one's work to the begin of the second
};

// `regions`, `graphs`: slices of CPU threads named kCompiledRegion and kCompiledGraph ..., in order of begin (then longer
// first). `has_resume`: some name of the trace holds kResume. In order of the regions `to`.
std::vector<GraphBreak> graph_breaks_of(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links,
                                        const std::vector<SliceId>& regions, const std::vector<SliceId>& graphs,
                                        bool has_resume);

}  // namespace gapscope
