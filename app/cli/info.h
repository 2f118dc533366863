#pragma once
// `gapscope info TRACE [--json] [--stages]`: what is in a trace.
#include <string>
#include <vector>

#include "core/load/load_timeline.h"

namespace gapscope {

struct Document;

// Aligned, in units, safe to print to a terminal whatever the trace's names hold.
std::string info_text(const Document& doc);
// Indented JSON with a line break at the end; always valid UTF-8, whatever bytes the names in the trace hold.
std::string info_json(const Document& doc);

// `--stages`: the timeline of a load, a row a thread and a column a stretch of time. Every letter represents what the thread
// did longest in that column, a dot for waiting. The cores that building and indexing used are said as a number, since they
// do not distinguish their threads.
std::string stages_text(const std::vector<LoadTimeline::Stretch>& stretches, const LoadFigures& figures);

}  // namespace gapscope
