#pragma once
// The tabs below the lanes, in their groups, and the panel of the one in front. `only_tabs`: there is no room for the panel.
#include "core/view/view_state.h"
#include "ui/requests.h"

namespace gapscope {

struct Document;

void draw_tabs(const Document& document, TraceView& view, WindowState& window, bool only_tabs, Requests& out);

}  // namespace gapscope
