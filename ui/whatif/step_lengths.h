#pragma once
// How long the steps of a replay take, as bars and in words: of the tab What if.
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/view/view_state.h"

namespace gapscope {

struct Document;
struct ReplayBase;
struct ReplayedRun;

// "28.8 ms to 8.55 ms a step: 70.3 % less"
std::string length_words(Ns before, Ns after, std::string_view unit);

struct StepLength {
  SliceId slice;
  Span recorded;             // where a click leads
  Ns before = 0, after = 0;  // with the change
};
// Of the program without its profiler where that is what is replayed.
std::vector<StepLength> step_lengths(const ReplayBase& base, const ReplayedRun& run);
// As they were, and next to that as they would be where `changed`.
void draw_step_lengths(const Document& document, TraceView& view, const WindowState& window,
                       const std::vector<StepLength>& steps, bool changed);

}  // namespace gapscope
