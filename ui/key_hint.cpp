#include "ui/key_hint.h"

#include <algorithm>
#include <cmath>

#include <imgui.h>

#include "core/base/text.h"
#include "core/view/link.h"

namespace gapscope {
namespace {

constexpr float kHeight = 32, kPadding = 16, kMargin = 14;  // px at scale 1

constexpr std::size_t kCopiedShown = 48;  // letters

}  // namespace

std::string copied_words(std::string_view text) {
  if (parse_link(text))
    return "Copied a link. It works where this file is open or has the same path. It does not contain notes.";
  return "Copied: " + elide_middle(printable(std::string(text.substr(0, text.find('\n')))), kCopiedShown);
}

void draw_key_hint(const WindowState& window, const Box& room) {
  if (window.key_hint.empty()) return;
  const Theme& theme = theme_of(window);
  Painter p(*ImGui::GetForegroundDrawList(), window.frame.scale);
  const float width =
      std::min(p.text_width(Face::sans, window.key_hint) + 2 * p.px(kPadding), room.width() - 2 * p.px(kMargin));
  const float x0 = std::round((room.x0 + room.x1 - width) / 2), y1 = room.y1 - p.px(kMargin);
  const Box plate{x0, y1 - p.px(kHeight), x0 + width, y1};
  p.fill_rounded(plate, colour(theme.raised), p.px(4));
  p.frame(plate, colour(theme.accent), p.hairline());
  p.text_in(Face::sans, {plate.x0 + p.px(kPadding), plate.y0, plate.x1 - p.px(kPadding) + 1, plate.y1}, colour(theme.text),
            window.key_hint);
}

}  // namespace gapscope
