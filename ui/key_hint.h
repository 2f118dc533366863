#pragma once
// Why the last key did nothing, over everything else at the lower edge of `room`, until the next key or click.
#include "core/view/view_state.h"
#include "ui/timeline/painter.h"

namespace gapscope {

// What is said of a text that was copied: that it was, and of a link what it needs to work elsewhere.
std::string copied_words(std::string_view text);

void draw_key_hint(const WindowState& window, const Box& room);

}  // namespace gapscope
