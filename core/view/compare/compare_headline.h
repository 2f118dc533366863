#pragma once
// The few words above two compared timelines: what limits each of the two, and what changed from A to B.
#include <string>
#include <vector>

#include "core/view/compare/compare_model.h"

namespace gapscope {

struct Document;

// "Host-bound for 86.4 % of 1.13 ms", "GPU busy 8.6 %", the most telling first; of the program without its profiler
// "Host-bound", "960 µs a step", "GPU busy 11 %", "without the profiler"; empty before the trace is diagnosed. The GPU is the
// busiest one, over the window of its time account. `brief`: "Host-bound 86.4 % of 1.13 ms".
std::vector<std::string> side_headline(const Document& document, bool brief = false);

// What changed, the step's time first: "a step on the CPU 1.20 ms -> 960 µs, 1.25x faster", "GPU busy 8.6 % -> 66 %".
// Only what is known of both; `answer` may be null.
std::vector<std::string> change_headline(const Document& a, const Document& b, const ComparisonAnswer* answer);

}  // namespace gapscope
