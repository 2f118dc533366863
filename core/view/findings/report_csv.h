#pragma once
// What was odd about a file, as comma-separated values.
#include <string>
#include <vector>

#include "core/trace/load_report.h"

namespace gapscope {

// A row each: the kind's word, how often, its sentence, the byte offsets of the first examples.
std::string report_csv(const std::vector<ImportIssueEntry>& entries);

}  // namespace gapscope
