#pragma once
// Keys as frames are to see them. Dear ImGui 1.86 knows only which keys are down by now: of a key that came and went between
// two slow frames, or of two, one meant for what the other did, a text field would see nothing, or the wrong order.
// Later ones have a queue of their own, switched off: its letters would come frames after the presses that we act on.
#include <bitset>
#include <cstddef>
#include <deque>
#include <vector>

namespace gapscope {

// As GLFW reports it: a key, or a character.
struct KeyEvent {
  bool is_character = false;
  int key = 0, scancode = 0, action = 0, mods = 0;
  unsigned int code_point = 0;
  std::size_t after = 0;  // how many presses and releases of the pointer came before
  friend bool operator==(const KeyEvent&, const KeyEvent&) = default;
};

class KeyQueue {
 public:
  void add(const KeyEvent& event) { events_.push_back(event); }
  // The events of the next frame, in order: letters together; whatever else is pressed, or with Ctrl, and Ctrl itself, comes a
  // frame after what was typed before it, and a frame before what follows. Repeats of a held key stay together. None that came
  // after more of the pointer than `shown`.
  std::vector<KeyEvent> take(std::size_t shown = 0);
  bool empty() const { return events_.empty(); }
  // GLFW's modifiers (GLFW_MOD_...) that are down after what was taken; GLFW, asked, would say which are by now.
  int mods() const;

 private:
  std::deque<KeyEvent> events_;
  std::bitset<8> modifiers_;  // left shift, control, alt, super, and the same at the right
};

}  // namespace gapscope
