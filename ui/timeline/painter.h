#pragma once
// The few shapes that the timeline is made of, on whole pixels, and text that is data: never a format string.
#include <string_view>

#include <imgui.h>
#include "core/view/timeline/hatch.h"
#include "core/view/view_state.h"
#include "ui/widgets/faces.h"
#include "ui/widgets/theme.h"

namespace gapscope {

struct Box {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float width() const { return x1 - x0; }
  float height() const { return y1 - y0; }
  bool holds(ImVec2 p) const { return x0 <= p.x && p.x < x1 && y0 <= p.y && p.y < y1; }
};

class Painter {
 public:
  Painter(ImDrawList& list, float scale) : list_(list), scale_(scale) {}

  void fill(const Box& box, ImU32 colour) { list_.AddRectFilled({box.x0, box.y0}, {box.x1, box.y1}, colour); }
  void fill_rounded(const Box& box, ImU32 colour, float radius);
  // A frame that grows inwards from the edge of `box`.
  void frame(const Box& box, ImU32 colour, float thickness);
  void line_x(float y, float x0, float x1, ImU32 colour) { fill({x0, y, x1, y + hairline()}, colour); }
  void line_y(float x, float y0, float y1, ImU32 colour) { fill({x, y0, x + hairline(), y1}, colour); }
  // A small triangle: points right when folded, down when open.
  void chevron(ImVec2 centre, bool folded, ImU32 colour);
  // Stripes, by default from bottom left to top right.
  void hatch(const Box& box, ImU32 colour, Hatch pattern = Hatch::rising);

  void text(Face face, ImVec2 at, ImU32 colour, std::string_view text);
  // Centred up and down in the box; what is too long ends in an ellipsis.
  void text_in(Face face, const Box& box, ImU32 colour, std::string_view text);
  float text_width(Face face, std::string_view text) const;

  void clip(const Box& box) { list_.PushClipRect({box.x0, box.y0}, {box.x1, box.y1}, true); }
  void unclip() { list_.PopClipRect(); }

  float px(float size) const;  // a size at scale 1, as whole pixels of the display
  float hairline() const { return px(1); }
  float scale() const { return scale_; }
  ImDrawList& list() { return list_; }

 private:
  ImDrawList& list_;
  float scale_;
};

}  // namespace gapscope
