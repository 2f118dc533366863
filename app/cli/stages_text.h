#pragma once
// `gapscope info --stages`: the timeline of a load, a row a thread and a column a stretch of time.
#include <string>
#include <vector>

#include "core/load/load_timeline.h"

namespace gapscope {

// Every letter stands for what the thread did longest in that column, a dot for waiting. What building and indexing kept busy
// is said as a number of cores, since they do not tell their threads apart.
std::string stages_text(const std::vector<LoadTimeline::Stretch>& stretches, const LoadFigures& figures);

}  // namespace gapscope
