#pragma once
// The search field in the top bar, and below it what was found.
#include "ui/app_ui.h"
#include "ui/commands.h"
#include "ui/timeline/painter.h"

namespace gapscope {

// Draws the field into `box` and asks for what is typed. Enter and Shift+Enter walk the hits, Escape leaves the field.
void draw_search_field(const Box& box, const FrameInput& in, CommandScope& scope);

// Has what is typed found; nothing typed finds nothing. Says whether that is another question than before.
bool ask_search(const Document& document, const SearchQuestion& typed, Requests& out);
// "3 of 120"; empty while nothing is searched for.
std::string search_count_text(const Document& document, const TraceView& view, const WindowState& window);

}  // namespace gapscope
