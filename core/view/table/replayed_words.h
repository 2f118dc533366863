#pragma once
// What the profiler table says of replayed graphs.
#include <string>

#include "core/trace/trace.h"

namespace gapscope {

// The table is PyTorch's own, which knows no captures: kernels of replayed graphs count for the graph's launch. Where their
// capture is known this says so, and where their operators are; else empty. One line.
std::string replayed_words(const Trace& trace);

}  // namespace gapscope
