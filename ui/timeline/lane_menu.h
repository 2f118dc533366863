#pragma once
// What can be done with a slice, a gap, a lane or a process: the menu behind a right click on it or on its title, and the menu
// of all lanes behind the button above the titles.
#include <optional>

#include "core/view/search/result_list.h"
#include "core/view/timeline/zones.h"
#include "core/view/view_state.h"
#include "ui/requests.h"
#include "ui/timeline/painter.h"

namespace gapscope {

struct Document;

class LaneMenu {
 public:
  // Opens the menu of what the zone is the title of, or of a slice or gap; other zones open nothing.
  void open(const Zone& zone);
  // Draws it while it is open.
  void draw(const Document& document, TraceView& view, WindowState& window, Requests& out);

 private:
  LaneId lane_;
  ProcessId process_;
  std::optional<ListPlace> place_;  // a slice or gap; else the lane, else the process
  bool opening_ = false;
};

// The button in `box`, and its menu while that is open.
void draw_lanes_button(const Document& document, TraceView& view, const WindowState& window, const Box& box);

}  // namespace gapscope
