#pragma once
// The one line that a run ends with.
#include <string>
#include <vector>

#include "app/workload/options.h"

namespace gapscope::workload {

double median(std::vector<double> values);  // 0 without any

// checked: how many results were compared with the CPU's.
std::string summary_line(const Options& options, const std::vector<double>& step_ms, std::size_t checked);

}  // namespace gapscope::workload
