#pragma once
// Everything a trace holds, as text: two loads that must be the same are compared line by line.
#include <string>

#include "core/trace/trace.h"

namespace gapscope::test {

// `with_offsets`: byte offsets and load report too (not the same in another spelling of the same events).
std::string dump_trace(const Trace& trace, bool with_offsets = true);

}  // namespace gapscope::test
