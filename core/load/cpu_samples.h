#pragma once
// How many CPU samples an export of Nsight Systems has: in the trace they are slices, one of many samples in a row.
#include <cstdint>

#include "core/trace/trace.h"

namespace gapscope {

// How many the file has that `trace` was read from. 0 of other traces, and where the file cannot be read again. Reads their
// table to its end.
std::uint64_t cpu_samples_of_export(const Trace& trace);

}  // namespace gapscope
