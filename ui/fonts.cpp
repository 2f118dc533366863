#include "ui/fonts.h"

#include <filesystem>
#include <system_error>

namespace gapscope {
namespace {

constexpr bool kScalesByItself = IMGUI_VERSION_NUM >= 19200;

// What Inter and JetBrains Mono have and traces or this program write; ends with 0. Before 1.92 every glyph listed here
// is rasterised at start, so scripts that neither font holds are left out.
constexpr ImWchar kGlyphRanges[] = {
    0x0020, 0x017F,  // Latin, its supplement and first extension
    0x0370, 0x03FF,  // Greek
    0x0400, 0x045F,  // Cyrillic
    0x2010, 0x2044,  // dashes, quotes, bullet, ellipsis
    0x2190, 0x2199,  // arrows
    0x2200, 0x2265,  // mathematics
    0x25A0, 0x25FF,  // shapes
    0x2713, 0x2717,  // check and cross
    0xFFFD, 0xFFFD,  // what printable() puts for a control character
    0,
};

bool exists(const char* path) {
  std::error_code ignored;
  return *path && std::filesystem::is_regular_file(path, ignored);
}

ImFont* load_face(ImFontAtlas& atlas, const char* path, float size_px, bool snap) {
  ImFontConfig config;
  config.OversampleH = snap ? 1 : 2;
  config.OversampleV = 1;
  config.PixelSnapH = snap;
  if (exists(path)) {
    if (ImFont* font = atlas.AddFontFromFileTTF(path, size_px, &config, kGlyphRanges)) return font;
  }
  ImFontConfig own;
  own.SizePixels = size_px;
  return atlas.AddFontDefault(&own);
}

}  // namespace

Fonts load_fonts(ImFontAtlas& atlas, float scale) {
  if (kScalesByItself) scale = 1;
  // Whole pixels keep stems of the same width all along a line.
  const auto px = [scale](float size) { return static_cast<float>(static_cast<int>(size * scale + 0.5f)); };
  Fonts fonts;
  fonts.sans = load_face(atlas, GAPSCOPE_FONT_SANS, px(kSansPx), false);
  fonts.sans_bold = load_face(atlas, GAPSCOPE_FONT_SANS_BOLD, px(kSansPx), false);
  fonts.mono = load_face(atlas, GAPSCOPE_FONT_MONO, px(kMonoPx), true);
  return fonts;
}

void push_font(ImFont* font) {
#if IMGUI_VERSION_NUM >= 19200
  ImGui::PushFont(font, font->LegacySize);
#else
  ImGui::PushFont(font);
#endif
}

}  // namespace gapscope
