#pragma once
// One whole run: data, warm-up, the schedule's steps with their annotations, the comparison with the CPU.
#include <string>

#include "app/workload/options.h"

namespace gapscope::workload {

// The summary line. Throws a Failure when there is no GPU, a call fails, or a result is wrong.
//
// The active steps lie between cudaProfilerStart and cudaProfilerStop, and only they carry ProfilerStep#N, counted from
// the first step of all, as in a recording by torch.profiler. Reading back and comparing come after cudaProfilerStop.
std::string run(const Options& options);

}  // namespace gapscope::workload
