#include "app/window/key_queue.h"

#include <GLFW/glfw3.h>

namespace gapscope {
namespace {

bool is_modifier(const KeyEvent& event) { return event.key >= GLFW_KEY_LEFT_SHIFT && event.key <= GLFW_KEY_RIGHT_SUPER; }

bool presses_ctrl(const KeyEvent& event) {
  return !event.is_character && event.action == GLFW_PRESS &&
         (event.key == GLFW_KEY_LEFT_CONTROL || event.key == GLFW_KEY_RIGHT_CONTROL);
}

// A press that does something by itself and types nothing.
bool acts_alone(const KeyEvent& event) {
  if (event.is_character || event.action != GLFW_PRESS || is_modifier(event)) return false;
  return event.key >= GLFW_KEY_ESCAPE || (event.mods & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER)) != 0;
}

}  // namespace

std::vector<KeyEvent> KeyQueue::take(std::size_t shown) {
  std::vector<KeyEvent> out;
  bool typed = false;
  while (!events_.empty()) {
    const KeyEvent event = events_.front();
    if (event.after > shown) break;
    const bool alone = acts_alone(event);
    if (typed && (alone || presses_ctrl(event))) break;  // a text field takes no letters while Ctrl is down
    events_.pop_front();
    out.push_back(event);
    if (!event.is_character && is_modifier(event))
      modifiers_.set(static_cast<std::size_t>(event.key - GLFW_KEY_LEFT_SHIFT), event.action != GLFW_RELEASE);
    if (alone) break;
    typed |= event.is_character || (event.action != GLFW_RELEASE && !is_modifier(event));
  }
  return out;
}

int KeyQueue::mods() const {
  const auto down = static_cast<int>(modifiers_.to_ulong());
  return (down | down >> 4) & (GLFW_MOD_SHIFT | GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER);
}

}  // namespace gapscope
