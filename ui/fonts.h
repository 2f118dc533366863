#pragma once
// The three faces of the interface: a sans for words, its bolder cut for titles, a mono for numbers and names.
// Owned by the font atlas that they were loaded into.
#include <imgui.h>

namespace gapscope {

constexpr float kSansPx = 14;  // at scale 1
constexpr float kMonoPx = 13;

struct Fonts {
  ImFont* sans = nullptr;
  ImFont* sans_bold = nullptr;
  ImFont* mono = nullptr;
};

// Adds the fonts to an empty atlas, rasterised for `scale` (physical pixels per pixel of the design). A face that is
// not on this machine becomes Dear ImGui's own font, so none is ever null. From Dear ImGui 1.92 on glyphs are
// rasterised when first drawn and style.FontScaleDpi does the scaling, so there `scale` is not used.
Fonts load_fonts(ImFontAtlas& atlas, float scale);

// ImGui::PushFont at the size that the font was loaded with, in every supported version. Pop with ImGui::PopFont().
void push_font(ImFont* font);

}  // namespace gapscope
