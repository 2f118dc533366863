#pragma once
// The faces of the window by role: Inter for words, JetBrains Mono for numbers and names. They are the first fonts of
// the atlas in this order (see load_fonts), so nothing has to be handed around; an atlas with fewer, as in a test,
// gives Dear ImGui's current font for the others.
#include <imgui.h>
#include "core/view/timeline/slice_label.h"

namespace gapscope {

enum class Face : int { sans, bold, mono };

ImFont* font_of(Face face);
// Line height in px as Dear ImGui counts them.
float font_size(Face face);

void push_face(Face face);
void pop_face();

GlyphWidths glyph_widths(Face face);

}  // namespace gapscope
