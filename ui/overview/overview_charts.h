#pragma once
// The pictures of the tab "Overview": a GPU's time as a bar, steps side by side, what the plan leaves of the run.
#include "core/view/view_state.h"

namespace gapscope {

struct Document;

// The bar of the busiest GPU with its parts in words, those of the others each below its number. A click on idle time goes
// there.
void draw_account_bars(const Document& document, TraceView& view, const WindowState& window, bool with_busiest);
// As tall as each is long, on the scale of the longest; the part in which the GPU works is coloured. A click zooms to a step.
// Nothing where there are none.
void draw_step_bars(const Document& document, TraceView& view, const WindowState& window);
// The run as it is and after each remedy of the plan, each with its words; a click on a remedy shows its finding. Nothing where
// nothing was replayed.
void draw_plan_bars(const Document& document, TraceView& view, WindowState& window);

}  // namespace gapscope
