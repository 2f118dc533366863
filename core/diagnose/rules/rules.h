#pragma once
// The rules, one a file beside this one; catalogue_*.cpp put them in order.
#include "core/diagnose/rule.h"

namespace gapscope {

// A. The profiler table
extern const Rule overhead_bound;

// B. CPU lanes

// C. GPU lanes

// D. From the operator to the kernel

// E. torch.compile and CUDA graphs

// F. GPU use, launches, start-up

// G. Copies, waits, attention, data types

// H. How the recording was made

// X. Beyond the guide

}  // namespace gapscope
