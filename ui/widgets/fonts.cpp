#include "ui/widgets/fonts.h"

#include <cmath>
#include <filesystem>
#include <system_error>

namespace gapscope {
namespace {

// Line heights at scale 1, as Dear ImGui counts them: 17 for Inter is 14 px from em to em, 16 for JetBrains Mono is 12.
constexpr float kSansPx = 17;
constexpr float kMonoPx = 16;

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

void load_face(ImFontAtlas& atlas, const char* path, float size_px, bool snap) {
  ImFontConfig config;
  config.OversampleH = snap ? 1 : 2;
  config.OversampleV = 1;
  config.PixelSnapH = snap;
  if (exists(path) && atlas.AddFontFromFileTTF(path, size_px, &config, kGlyphRanges)) return;
  ImFontConfig own;
  own.SizePixels = size_px;
  atlas.AddFontDefault(&own);
}

}  // namespace

void load_fonts(ImFontAtlas& atlas, float scale) {
  // Whole pixels keep stems of the same width all along a line.
  const auto px = [scale](float size) { return std::round(size * scale); };
  load_face(atlas, GAPSCOPE_FONT_SANS, px(kSansPx), false);
  load_face(atlas, GAPSCOPE_FONT_SANS_BOLD, px(kSansPx), false);
  load_face(atlas, GAPSCOPE_FONT_MONO, px(kMonoPx), true);
}

}  // namespace gapscope
