#pragma once
// Five hints for somebody who opens a trace here for the first time, one card at a time. Nothing waits for them.
#include "core/view/view_state.h"
#include "ui/painter.h"

namespace gapscope {

// Draws the card in a corner of `lanes` while the tour is open.
void draw_tour(ViewState& view, const Box& lanes);

}  // namespace gapscope
