#include "ui/timeline/timeline_input.h"

#include <cmath>

#include "core/view/document.h"
#include "core/view/timeline/first_view.h"
#include "core/view/timeline/time_view.h"
#include "ui/commands.h"

namespace gapscope {
namespace {

constexpr double kWheelZoomTaps = 1.25;  // one notch of the wheel zooms like this many taps of W
constexpr double kWheelPanTaps = 1.5;
constexpr float kWheelScrollPx = 60;  // three depths a notch

// Whether a key of a command that acts while held is down, and how often it was pressed since the last frame.
struct Held {
  bool down = false;
  int taps = 0;
};

Held held_of(CommandId id, const TimelineKeys& keys) {
  Held result;
  if (!keys.listen) return result;
  for (const Chord& chord : command(id).chords) {
    if (chord.key == Key::none) continue;
    result.down = result.down || is_held(keys.held, chord.key);
    for (const KeyPress& press : keys.presses) {
      if (press.key == chord.key && press.mods == chord.mods && !press.repeat) ++result.taps;
    }
  }
  return result;
}

// The way to cover in this frame by two opposite commands and by `extra_taps`.
double advance_pair(HeldMotion& motion, CommandId plus, CommandId minus, const TimelineKeys& keys, double extra_taps,
                    bool listen_held, double delta_s) {
  const Held more = held_of(plus, keys);
  const Held less = held_of(minus, keys);
  const int direction = listen_held ? int{more.down} - int{less.down} : 0;
  return motion.advance(direction, more.taps - less.taps + extra_taps, delta_s);
}

bool nearly_same(const TimeView& a, const TimeView& b) {
  const double slack = visible_ns(b) * 0.01;
  return std::abs(static_cast<double>(a.span.begin - b.span.begin)) <= slack &&
         std::abs(static_cast<double>(a.span.end - b.span.end)) <= slack;
}

}  // namespace

void TimelineMotion::stop() {
  zoom_ = HeldMotion(kZoomSpeed);
  pan_ = HeldMotion(kPanSpeed);
}

void TimelineMotion::advance(const Document& document, TraceView& view, const WindowState& window, const TimelineKeys& keys,
                             const TimelineMouse& mouse, float axis_px, double delta_s) {
  advance(axis_reach(view, document.trace.span), view, window, keys, mouse, axis_px, delta_s);
}

void TimelineMotion::advance(Span trace, TraceView& view, const WindowState& window, const TimelineKeys& keys,
                             const TimelineMouse& mouse, float axis_px, double delta_s) {
  // A jump that a command began in this frame wins over the glide of an earlier key.
  if (view.move.active && view.move.elapsed_s == 0) stop();
  // Ctrl+S, Alt+Left and the like are commands, not movement.
  const bool listen_held = !mouse.ctrl && !mouse.alt;
  const double wheel_zoom = mouse.ctrl ? mouse.wheel_y * kWheelZoomTaps : 0;
  const double wheel_pan = (mouse.shift ? -mouse.wheel_y : 0) - mouse.wheel_x;
  const double zoom = advance_pair(zoom_, CommandId::zoom_in, CommandId::zoom_out, keys, wheel_zoom, listen_held, delta_s);
  const double pan =
      advance_pair(pan_, CommandId::pan_right, CommandId::pan_left, keys, wheel_pan * kWheelPanTaps, listen_held, delta_s) -
      static_cast<double>(mouse.drag.x / axis_px);
  if (zoom != 0 || pan != 0) view.move.active = false;
  advance_move(view, delta_s);
  if (zoom != 0) view.time = zoomed(view.time, std::exp(-zoom), static_cast<double>(mouse.anchor), trace);
  if (pan != 0) view.time = panned(view.time, pan, trace);
  if (!mouse.ctrl && !mouse.shift) view.scroll_px -= static_cast<double>(mouse.wheel_y * kWheelScrollPx);
  view.scroll_px -= static_cast<double>(mouse.drag.y / window.frame.scale);
}

void focus_or_fit(const Document& document, TraceView& view, const WindowState& window) {
  const TimeView& now = view.move.active ? view.move.to : view.time;
  if (view.selection.valid()) {
    const TimeView close = focused_on(document.trace.span_of(view.selection), axis_reach(view, document.trace.span));
    if (!nearly_same(now, close)) {
      view.signals.reveal_selection = true;
      return go_to(view, window, close);
    }
  }
  go_to(view, window, whole_view(view, document.trace));
}

}  // namespace gapscope
