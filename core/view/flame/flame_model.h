#pragma once
// The flame graph of the tab "Flame": what is asked, laid out for a width, and what a box says.
#include <string>
#include <vector>

#include "core/view/view_state.h"

namespace gapscope {

// Of the marked area, of the time selected in the ruler, or of the whole trace; by module of the whole trace.
// Whether an area is marked that has lanes of GPUs alone, without a slice of a CPU thread.
bool is_of_gpus_alone(const Trace& trace, const TraceView& view);
FlameQuestion flame_question(const Trace& trace, const TraceView& view);
// Brings `arranged` up to date. `answer` is not null. Another answer is shown whole.
void arrange_flame(const Trace& trace, const std::shared_ptr<const FlameAnswer>& answer, FlameState& state, float width_px);
// Of a node: its slices' name, a lane's title, "all".
std::string path_name(const Trace& trace, const CallPaths& paths, std::uint32_t node);
// What hovering over a box says, a line each: name; total, share of all; own; count.
std::string box_text(const Trace& trace, const CallPaths& paths, const FlameBox& box);
// Where a click on a box leads: the node that then fills the width.
std::uint32_t zoom_of(const CallPaths& paths, const FlameBox& box);

}  // namespace gapscope
