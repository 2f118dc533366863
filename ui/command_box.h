#pragma once
// One box at the top of the window, in three uses: run a command, go to a lane, go to a time. What is typed narrows the list;
// the arrow keys move in it, Enter takes, Escape closes.
#include "ui/app_ui.h"
#include "ui/commands.h"

namespace gapscope {

// While WindowState::box is open it takes all keys.
void draw_command_box(const FrameInput& in, CommandScope& scope);

}  // namespace gapscope
