#pragma once
// The few words above two compared timelines: what limits each of the two, and what changed from A to B.
#include <string>
#include <vector>

#include "core/view/compare/compare_model.h"

namespace gapscope {

struct Document;

// "Host-bound for 86.4 % of 1.13 ms", "GPU busy 8.6 %", the most telling first; empty before the trace is diagnosed. The GPU is
// the busiest one, over the window of its time account. `brief`: "Host-bound 86.4 % of 1.13 ms".
std::vector<std::string> side_headline(const Document& document, bool brief = false);

// What changed, the most telling first: "GPU busy 8.6 % -> 66 %", "a step takes 1.20 ms -> 960 µs on the CPU, 1.25x faster".
// Only what can be told of both; `answer` may be null.
std::vector<std::string> change_headline(const Document& a, const Document& b, const ComparisonAnswer* answer);

}  // namespace gapscope
