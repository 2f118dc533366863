#pragma once
// Text in the faces and colours of the theme, drawn with the unformatted call: names from a trace are data.
#include <string_view>

#include "ui/widgets/faces.h"
#include "ui/widgets/theme.h"

namespace gapscope {

// One item; wraps at the end of the column when `wrap`.
void draw_text(Face face, Rgb rgb, std::string_view text, bool wrap = false);
// One line whose last pixel is that of the column.
void draw_text_right(Face face, Rgb rgb, std::string_view text);
// Text that is a way to somewhere: underlined under the pointer. True when clicked.
bool draw_link(Face face, Rgb rgb, std::string_view text, bool wrap = false);
float text_width(Face face, std::string_view text);

// A tooltip that does not cover what it explains, which is from `low` to `high` in the window: below, or where there is no
// room above, or alongside it; with `above` it is tried there first. To be ended.
void begin_tooltip(ImVec2 low, ImVec2 high, bool above = false);
void end_tooltip();
void draw_tooltip(ImVec2 low, ImVec2 high, std::string_view text);
// A tooltip for the last item, wrapped, above it where there is room: what a control is about is below it. Nothing for an
// empty text.
void draw_hover(std::string_view text, ImGuiHoveredFlags flags = 0);
// How long the pointer rests on a control before its tooltip comes up; 0, as at first: at once. So tooltips do not get in the
// way of a hand that knows where it goes.
void set_hover_delay(double seconds);
// A tooltip comes up soon, without any input.
bool hover_is_due();

}  // namespace gapscope
