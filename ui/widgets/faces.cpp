#include "ui/widgets/faces.h"

#include <cfloat>

namespace gapscope {

ImFont* font_of(Face face) {
  const ImVector<ImFont*>& fonts = ImGui::GetIO().Fonts->Fonts;
  const int at = static_cast<int>(face);
  return at < fonts.Size ? fonts[at] : ImGui::GetFont();
}

float font_size(Face face) {
#if IMGUI_VERSION_NUM >= 19200
  const ImGuiStyle& style = ImGui::GetStyle();
  const float own = font_of(face)->LegacySize;
  return (own > 0 ? own : style.FontSizeBase) * style.FontScaleMain * style.FontScaleDpi;
#else
  return font_of(face)->FontSize * ImGui::GetIO().FontGlobalScale;
#endif
}

void push_face(Face face) {
#if IMGUI_VERSION_NUM >= 19200
  ImGui::PushFont(font_of(face), font_of(face)->LegacySize);
#else
  ImGui::PushFont(font_of(face));
#endif
}

void pop_face() { ImGui::PopFont(); }

GlyphWidths glyph_widths(Face face) {
  ImFont* font = font_of(face);
  const float size = font_size(face);
  GlyphWidths widths;
  for (std::size_t c = ' '; c < widths.ascii.size(); ++c) {
    const char letter = static_cast<char>(c);
    widths.ascii[c] = font->CalcTextSizeA(size, FLT_MAX, 0, &letter, &letter + 1).x;
  }
  for (std::size_t c = 0; c < ' '; ++c) widths.ascii[c] = widths.ascii[' '];
  widths.other = font->CalcTextSizeA(size, FLT_MAX, 0, "\xD0\x96").x;  // a wide letter, to be on the safe side
  widths.ellipsis = font->CalcTextSizeA(size, FLT_MAX, 0, "\xE2\x80\xA6").x;
  return widths;
}

}  // namespace gapscope
