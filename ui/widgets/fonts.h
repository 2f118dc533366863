#pragma once
// Loads the faces of ui/widgets/faces.h into a font atlas, which owns them.
#include <imgui.h>

namespace gapscope {

// Adds the fonts to an empty atlas in the order of Face, rasterised for `scale` (physical pixels per pixel of the
// design). A face that is not on this machine becomes Dear ImGui's own font. From Dear ImGui 1.92 on glyphs are
// rasterised when first drawn and style.FontScaleDpi does the scaling: load with scale 1 there.
void load_fonts(ImFontAtlas& atlas, float scale);

}  // namespace gapscope
