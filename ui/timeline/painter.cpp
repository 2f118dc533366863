#include "ui/timeline/painter.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace gapscope {

float Painter::px(float size) const { return std::max(1.0f, std::round(size * scale_)); }

void Painter::fill_rounded(const Box& box, ImU32 colour, float radius) {
  list_.AddRectFilled({box.x0, box.y0}, {box.x1, box.y1}, colour, radius);
}

void Painter::frame(const Box& box, ImU32 colour, float thickness) {
  const float t = std::min(thickness, box.height() / 2);
  fill({box.x0, box.y0, box.x1, box.y0 + t}, colour);
  fill({box.x0, box.y1 - t, box.x1, box.y1}, colour);
  fill({box.x0, box.y0 + t, std::min(box.x1, box.x0 + t), box.y1 - t}, colour);
  fill({std::max(box.x0, box.x1 - t), box.y0 + t, box.x1, box.y1 - t}, colour);
}

void Painter::chevron(ImVec2 centre, bool folded, ImU32 colour) {
  const float r = px(4);
  const float half = r * 0.6f;
  if (folded) {
    list_.AddTriangleFilled({centre.x - half, centre.y - r}, {centre.x + half, centre.y}, {centre.x - half, centre.y + r},
                            colour);
  } else {
    list_.AddTriangleFilled({centre.x - r, centre.y - half}, {centre.x + r, centre.y - half}, {centre.x, centre.y + half},
                            colour);
  }
}

// Lines are cut by hand: a clip rectangle each would cost a draw call each.
void Painter::hatch(const Box& box, ImU32 colour, Hatch pattern) {
  const float gap = px(6), thick = hairline();
  if (pattern == Hatch::level || pattern == Hatch::dotted) {
    for (float y = box.y0 + std::floor(gap / 2); y + thick <= box.y1; y += gap) {
      if (pattern == Hatch::level) line_x(y, box.x0, box.x1, colour);
      for (float x = box.x0 + std::floor(gap / 2); pattern == Hatch::dotted && x + 2 * thick <= box.x1; x += gap)
        fill({x, y, x + 2 * thick, y + 2 * thick}, colour);
    }
  }
  if (pattern == Hatch::upright)
    for (float x = box.x0 + std::floor(gap / 2); x + thick <= box.x1; x += gap) line_y(x, box.y0, box.y1, colour);
  const float height = box.height(), wide = pattern == Hatch::crossed ? gap * 1.5f : gap;
  for (float x = box.x0 - height + wide / 2; x < box.x1; x += wide) {
    const float left = std::max(x, box.x0), right = std::min(x + height, box.x1);
    if (left >= right) continue;
    if (pattern == Hatch::rising || pattern == Hatch::crossed)
      list_.AddLine({left, box.y1 - (left - x)}, {right, box.y1 - (right - x)}, colour, thick);
    if (pattern == Hatch::falling || pattern == Hatch::crossed)
      list_.AddLine({left, box.y0 + (left - x)}, {right, box.y0 + (right - x)}, colour, thick);
  }
}

void Painter::text(Face face, ImVec2 at, ImU32 colour, std::string_view text) {
  if (text.empty()) return;
  list_.AddText(font_of(face), font_size(face), {std::floor(at.x), std::floor(at.y)}, colour, text.data(),
                text.data() + text.size());
}

void Painter::text_in(Face face, const Box& box, ImU32 colour, std::string_view text_) {
  if (text_.empty() || box.width() <= 0) return;
  const float size = font_size(face);
  const ImVec2 at{std::floor(box.x0), std::floor(box.y0 + (box.height() - size) / 2)};
  if (text_width(face, text_) <= box.width()) {
    list_.AddText(font_of(face), size, at, colour, text_.data(), text_.data() + text_.size());
    return;
  }
  constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
  const float room = box.width() - text_width(face, kEllipsis);
  const char* stop = text_.data();
  const float shown = font_of(face)->CalcTextSizeA(size, room, 0, text_.data(), text_.data() + text_.size(), &stop).x;
  const ImVec4 cut{box.x0, box.y0, box.x1, box.y1};
  list_.AddText(font_of(face), size, at, colour, text_.data(), stop, 0, &cut);
  list_.AddText(font_of(face), size, {at.x + shown, at.y}, colour, kEllipsis.data(), kEllipsis.data() + kEllipsis.size(), 0,
                &cut);
}

float Painter::text_width(Face face, std::string_view text) const {
  if (text.empty()) return 0;
  return font_of(face)->CalcTextSizeA(font_size(face), FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

}  // namespace gapscope
