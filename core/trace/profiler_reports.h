#pragma once
// What Nsight Systems says of its own recording: the warnings and errors of its diagnostics, which its exports have.
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

// A sentence each, printable, in the file's order; empty of other traces.
std::vector<std::string> profiler_reports(const Trace& trace);

}  // namespace gapscope
