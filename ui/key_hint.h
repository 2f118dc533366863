#pragma once
// Why the last key did nothing, over everything else at the lower edge of `room`, until the next key or click.
#include "core/view/view_state.h"
#include "ui/timeline/painter.h"

namespace gapscope {

void draw_key_hint(const WindowState& window, const Box& room);

}  // namespace gapscope
