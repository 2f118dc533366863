#pragma once
// Five hints for somebody who opens a trace here for the first time, one card at a time. Nothing waits for them.
#include "core/view/view_state.h"
#include "ui/timeline/painter.h"

namespace gapscope {

// Draws the card in the lower right corner of `room` while the tour is open, over the panels and far from the GPU's lanes.
void draw_tour(WindowState& window, const Box& room);

}  // namespace gapscope
