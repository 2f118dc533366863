#pragma once
// The text that a frame shows, read back from what it drew: every text of the window goes through Dear ImGui's draw lists as
// glyphs, so this sees widgets and painters alike, and only what is really in the picture.
#include <cstdint>
#include <string>
#include <vector>

#include <imgui.h>
#include "core/view/timeline/rgb.h"
#include "ui/timeline/painter.h"

namespace gapscope {

struct DrawnText {
  std::string text;         // of one line; leading and trailing spaces are not seen
  Box box;                  // a line high, cut to what shows; px of the picture
  bool clipped = false;     // letters are cut by an edge; a text that ends in an ellipsis was shortened, and is not
  bool sideways = false;    // by one at its left or right
  std::uint32_t drawn = 0;  // its position among all that was drawn
  std::uint32_t plate = 0;  // and that of the last opaque shape below all of it: it hides what was drawn before
  Rgb ink{}, ground{};      // of one of its letters and of what is below that, where they are most alike
};

// In the order of drawing. `data` is that of the last ImGui::Render(), `atlas` the one it was drawn with. Text that something
// opaque was drawn over is left out. A text cut exactly between two letters cannot be distinguished from a shorter one.
// `ink` and `ground` only `with_grounds`, which takes its time.
std::vector<DrawnText> drawn_texts(const ImDrawData& data, const ImFontAtlas& atlas, bool with_grounds = false);

}  // namespace gapscope
