#pragma once
// From held keys, wheel and drags to the view. Knows nothing of drawing.
#include <span>

#include <imgui.h>
#include "core/view/timeline/held_motion.h"
#include "core/view/view_state.h"
#include "ui/keys.h"

namespace gapscope {

struct Document;

struct TimelineKeys {
  std::span<const KeyPress> presses;
  HeldKeys held;
  bool listen = true;  // false while a person types, or something is over the timeline
};

// What the mouse did over the lanes in this frame.
struct TimelineMouse {
  float anchor = 0.5f;  // where a zoom holds on to: 0 left edge of the axis, 1 right
  float wheel_x = 0, wheel_y = 0;
  bool ctrl = false, shift = false, alt = false;
  ImVec2 drag{};  // px since the last frame, while panning by drag
};

class TimelineMotion {
 public:
  void stop();
  // Still on its way after the last frame, by a held key or by the glide that follows a press.
  bool moving() const { return zoom_.moving() || pan_.moving(); }
  // One frame. `axis_px` is the width of the axis.
  void advance(const Document& document, TraceView& view, const WindowState& window, const TimelineKeys& keys,
               const TimelineMouse& mouse, float axis_px, double delta_s);
  // The same over any axis that goes as far as `reach`.
  void advance(Span reach, TraceView& view, const WindowState& window, const TimelineKeys& keys, const TimelineMouse& mouse,
               float axis_px, double delta_s);

 private:
  HeldMotion zoom_{kZoomSpeed};
  HeldMotion pan_{kPanSpeed};
};

// F: the selection, and when that is in focus already, everything.
void focus_or_fit(const Document& document, TraceView& view, const WindowState& window);

}  // namespace gapscope
