#pragma once
// What can be done with a lane or a process: the menu behind a right click on its title, and the menu of all lanes behind
// the button above the titles.
#include "core/view/document.h"
#include "core/view/timeline/zones.h"
#include "core/view/view_state.h"
#include "ui/timeline/painter.h"

namespace gapscope {

class LaneMenu {
 public:
  // Opens the menu of what the zone is the title of; other zones open nothing.
  void open(const Zone& zone);
  // Draws it while it is open.
  void draw(const Document& document, ViewState& view);

 private:
  LaneId lane_;
  ProcessId process_;
  bool opening_ = false;
};

// The button in `box`, and its menu while that is open.
void draw_lanes_button(const Document& document, ViewState& view, const Box& box);

}  // namespace gapscope
