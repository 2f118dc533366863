#pragma once
// Five hints for a person who opens a trace here for the first time, one card at a time. Nothing waits for them.
#include <span>

#include "core/view/view_state.h"
#include "ui/keys.h"
#include "ui/timeline/painter.h"

namespace gapscope {

// Opens the tour that is due with the first click or key, of `presses`. While it is open draws the card in the lower right
// corner of `room`, far from the GPU's lanes: on the page of the drawer, which is `page` px of the `drawer` px at the bottom,
// and where that is too low for it above the drawer, whose tabs stay in sight.
void draw_tour(WindowState& window, std::span<const KeyPress> presses, const Box& room, float drawer, float page);

}  // namespace gapscope
