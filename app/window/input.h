#pragma once
// What the person did since the last frame, as the interface wants it: filled by GLFW's callbacks, so nothing that came
// and went between two frames is lost.
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "app/window/key_queue.h"
#include "ui/keys.h"

struct GLFWwindow;

namespace gapscope {

// Files dropped onto the window at once. `shift`: Shift was held (open alongside the present trace, not instead of it).
struct Drop {
  std::vector<std::string> paths;
  bool shift = false;
};

struct WindowInput {
  std::vector<KeyPress> presses;  // in order; also those typed into a text field (ask io.WantTextInput)
  HeldKeys held;                  // letters, digits and named keys, not punctuation; empty without the focus
  std::vector<Drop> drops;
  double seconds = 0;    // since the last frame, at most kMaxFrameSeconds
  double elapsed_s = 0;  // since the last frame
  float width_px = 0;    // of the window's inside, as Dear ImGui counts
  float height_px = 0;
  float scale = 1;  // multiply every length of the design by it
};

// The pointer as one frame is to see it.
struct PointerState {
  float x = 0, y = 0;
  std::array<bool, 3> down{};  // left, right, middle
  friend bool operator==(const PointerState&, const PointerState&) = default;
};

// Longer pauses (an idle window) count as this much, so that nothing jumps.
constexpr double kMaxFrameSeconds = 0.1;

// Collects into itself from callbacks on `window`. Install before Dear ImGui's backend, which then calls on to these.
class InputCollector {
 public:
  void install(GLFWwindow* window);
  // After the backend was installed: it and these see keys when a frame is to see them.
  void hold_keys(GLFWwindow* window);
  // Before a frame begins, and before its take_pointer(): keys and the pointer's buttons keep their order.
  void hand_on_keys(GLFWwindow* window);
  int shown_mods() const { return keys_.mods(); }  // GLFW's, that are down after the keys that were handed on

  // The presses, drops and held keys since the last take.
  WindowInput take();
  // What a button did between two frames, a frame each, at the place where it did it: the way there, a press or a release.
  // Nothing once all were taken: the pointer is where it is.
  std::optional<PointerState> take_pointer();
  bool has_pointers() const { return !pointers_.empty(); }
  // Whether anything at all happened since the last call: then the window wants a new frame.
  bool take_touched();

  void on_key(int key, int scancode, int action, int mods);
  void on_char(unsigned int code_point);
  void on_drop(int count, const char** paths, bool shift);
  void on_focus(bool focused);
  void on_pointer(double x, double y);
  void on_button(int button, bool down);
  void touch() { touched_ = true; }
  void hold_key(KeyEvent event);

 private:
  void hold_pointer(const PointerState& state);

  WindowInput pending_;
  KeyQueue keys_;
  std::size_t keys_seen_ = 0, keys_shown_ = 0, pointers_seen_ = 0, pointers_shown_ = 0;  // counts since the start
  void (*next_key_)(GLFWwindow*, int, int, int, int) = nullptr;
  void (*next_char_)(GLFWwindow*, unsigned int) = nullptr;
  struct HeldPointer {
    PointerState state;
    std::size_t after = 0;  // keys
  };
  std::deque<HeldPointer> pointers_;
  PointerState shown_pointer_;    // taken last
  float x_ = 0, y_ = 0;           // of the pointer, by the last event: GLFW, asked, would say where it is by now
  PointerState last_pointer_;     // put into pointers_
  unsigned char mods_ = kNoMods;  // of the key whose character comes next
  bool repeat_ = false;
  bool touched_ = true;
};

}  // namespace gapscope
