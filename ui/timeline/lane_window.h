#pragma once
// Where lanes show in the window. Two parts: the top one stays in sight (pinned lanes, GPUs) while the rest scrolls. They
// touch, unless two traces are compared: then B's GPUs lie between A's and the rest. Lane coordinates are px of the display
// from the top of the layout; the rest begins at `pinned` in them.
#include <algorithm>
#include <utility>

#include "ui/timeline/painter.h"

namespace gapscope {

struct LaneWindow {
  Box top, rest;         // of the axis; either may be empty
  float pinned = 0;      // px of the layout that belong to the top
  float top_scroll = 0;  // px; above 0 only where the top has more lanes than room
  float scroll = 0;      // px of the rest that lie above its box

  bool is_top(float y) const { return y < pinned; }
  const Box& part_of(float y) const { return is_top(y) ? top : rest; }
  float window_y(float y) const { return is_top(y) ? top.y0 + y - top_scroll : rest.y0 + y - pinned - scroll; }
  // As window_y, of a lower edge: one that ends with the top belongs to the top.
  float window_bottom(float y) const { return y <= pinned ? top.y0 + y - top_scroll : window_y(y); }
  // The lane coordinate at the window's y; what is between the parts counts as the nearer edge of the top.
  float lane_y(float window_y) const {
    if (window_y < rest.y0 || rest.height() < 1) return std::min(window_y, std::max(top.y0, top.y1 - 1)) - top.y0 + top_scroll;
    return window_y - rest.y0 + pinned + scroll;
  }
  // From where to where, in lane coordinates, the part shows that `y` belongs to.
  std::pair<float, float> seen_around(float y) const {
    const Box& part = part_of(y);
    const float above = y - window_y(y);
    return {part.y0 + above, part.y1 + above};
  }
  bool holds(ImVec2 at) const { return top.holds(at) || rest.holds(at); }
  bool apart() const { return rest.y0 > top.y1; }
  // From the top of the first part to the bottom of the last.
  Box hull() const { return rest.height() >= 1 ? Box{top.x0, top.y0, top.x1, rest.y1} : top; }
  // Calls see(box) for each part; once where they touch.
  template <class See>
  void each_part(See see) const {
    if (!apart()) return see(hull());
    if (top.height() >= 1) see(top);
    if (rest.height() >= 1) see(rest);
  }
};

}  // namespace gapscope
