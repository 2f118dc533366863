#include "app/window/input.h"

#include <GLFW/glfw3.h>

#include <utility>

#include "app/window/backend.h"
#include "app/window/key_map.h"

namespace gapscope {
namespace {

InputCollector& collector(GLFWwindow* window) { return *static_cast<InputCollector*>(glfwGetWindowUserPointer(window)); }

bool shift_down(GLFWwindow* window) {
  return glfwGetKey(window, GLFW_KEY_LEFT_SHIFT) == GLFW_PRESS || glfwGetKey(window, GLFW_KEY_RIGHT_SHIFT) == GLFW_PRESS;
}

// GLFW is C, through which nothing may be thrown: what finds no memory is not entered.
template <class Enter>
void enter(Enter each) noexcept {
  try {
    each();
  } catch (...) {
  }
}

}  // namespace

void InputCollector::install(GLFWwindow* window) {
  glfwSetWindowUserPointer(window, this);
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
    enter([&] { collector(w).on_key(key, scancode, action, mods); });
  });
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned int c) { enter([&] { collector(w).on_char(c); }); });
  glfwSetDropCallback(
      window, [](GLFWwindow* w, int n, const char** paths) { enter([&] { collector(w).on_drop(n, paths, shift_down(w)); }); });
  glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int focused) { collector(w).on_focus(focused != 0); });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int) {
    enter([&] { collector(w).on_button(button, action == GLFW_PRESS); });
  });
  glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { collector(w).touch(); });
  glfwSetCursorPosCallback(window, [](GLFWwindow* w, double x, double y) { collector(w).on_pointer(x, y); });
  glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int) { collector(w).touch(); });
  glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { collector(w).touch(); });
  glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { collector(w).touch(); });
  glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { collector(w).touch(); });
  glfwSetWindowCloseCallback(window, [](GLFWwindow* w) { collector(w).touch(); });
}

void InputCollector::hold_keys(GLFWwindow* window) {
  next_key_ = glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
    enter([&] { collector(w).hold_key({false, key, scancode, action, mods, 0}); });
  });
  next_char_ = glfwSetCharCallback(window, [](GLFWwindow* w, unsigned int c) {
    enter([&] { collector(w).hold_key({true, 0, 0, 0, 0, c}); });
  });
}

void InputCollector::hold_key(KeyEvent event) {
  touch();
  event.after = pointers_seen_;
  keys_.add(event);
  ++keys_seen_;
}

void InputCollector::hand_on_keys(GLFWwindow* window) {
  for (const KeyEvent& e : keys_.take(pointers_shown_)) {
    ++keys_shown_;
    if (e.is_character)
      next_char_(window, e.code_point);
    else
      next_key_(window, e.key, e.scancode, e.action, e.mods);
  }
  if (!keys_.empty()) touch();  // the next frame is due at once
}

WindowInput InputCollector::take() {
  WindowInput taken = std::move(pending_);
  pending_ = {};
  pending_.held = taken.held;
  return taken;
}

bool InputCollector::take_touched() { return std::exchange(touched_, false); }

void InputCollector::on_key(int key, int scancode, int action, int mods) {
  touch();
  mods_ = mods_from_glfw(mods);
  repeat_ = action == GLFW_REPEAT;
  Key ours = key_from_glfw(key, typed_by_key(key, scancode));
  // With Ctrl no character follows that would show it; where a key types =, it types + with Shift.
  if (ours == Key::equal && (mods_ & kCtrl) && (mods_ & kShift)) {
    ours = Key::plus;
    mods_ = static_cast<unsigned char>(mods_ & ~kShift);
  }
  if (ours == Key::none) return;
  const bool is_punctuation = ours >= Key::question;
  const bool types_a_character = !(mods_ & (kCtrl | kAlt | kSuper));
  if (is_punctuation && types_a_character) return;  // on_char follows and knows which character it is
  if (!is_punctuation) pending_.held.set(static_cast<std::size_t>(ours), action != GLFW_RELEASE);
  if (action != GLFW_RELEASE) pending_.presses.push_back({ours, mods_, repeat_});
}

void InputCollector::on_char(unsigned int code_point) {
  touch();
  const Key key = punctuation_key(code_point);
  if (key == Key::none) return;
  pending_.presses.push_back({key, static_cast<unsigned char>(mods_ & ~kShift), repeat_});
}

void InputCollector::on_drop(int count, const char** paths, bool shift) {
  touch();
  pending_.drops.push_back({{paths, paths + count}, shift});
}

void InputCollector::on_pointer(double x, double y) {
  touch();
  x_ = static_cast<float>(x);
  y_ = static_cast<float>(y);
}

void InputCollector::on_button(int button, bool down) {
  touch();
  PointerState next = last_pointer_;
  if (button < 0 || static_cast<std::size_t>(button) >= next.down.size()) return;
  next.x = x_;
  next.y = y_;
  // A drag has come this far before it ends; and a tab takes no press in the frame in which the pointer comes from another one.
  if (next != last_pointer_) hold_pointer(next);
  next.down[static_cast<std::size_t>(button)] = down;
  hold_pointer(last_pointer_ = next);
}

void InputCollector::hold_pointer(const PointerState& state) {
  pointers_.push_back({state, keys_seen_});
  ++pointers_seen_;
}

std::optional<PointerState> InputCollector::take_pointer() {
  if (pointers_.empty()) return std::nullopt;
  const PointerState& next = pointers_.front().state;
  if (pointers_.front().after > keys_shown_) return PointerState{next.x, next.y, shown_pointer_.down};  // keys come before it
  shown_pointer_ = next;
  pointers_.pop_front();
  ++pointers_shown_;
  return shown_pointer_;
}

void InputCollector::on_focus(bool focused) {
  touch();
  if (!focused) pending_.held.reset();  // their releases will go to another window
}

}  // namespace gapscope
