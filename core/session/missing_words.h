#pragma once
// What is said where a recording lacks what a tab or a command shows, and how the next one would have it. Of GPU work its
// producer says it (Producer::no_gpu_work).
#include <string_view>

#include "core/trace/trace.h"

namespace gapscope {

struct WorkTable;

std::string_view no_memory_words(const Trace& trace);
std::string_view no_steps_words(const Trace& trace);
std::string_view no_shapes_words(const Trace& trace);
// Why there is no roofline; empty where there is one.
std::string_view missing_roofline(const Trace& trace, const WorkTable& table);
// Of a crop, whose recording may have had some.
constexpr std::string_view kNoWholeStep = "This part has no complete step, so it counts as one.";

}  // namespace gapscope
