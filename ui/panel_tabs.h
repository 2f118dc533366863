#pragma once
// The tabs below the lanes, the others under "More...", and the panel of the one in front. `only_tabs`: the tabs alone.
#include "core/view/view_state.h"
#include "ui/requests.h"

namespace gapscope {

struct Document;

void draw_tabs(const Document& document, TraceView& view, WindowState& window, bool only_tabs, Requests& out);

}  // namespace gapscope
