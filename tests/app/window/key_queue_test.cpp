// Which keys a frame sees: what was typed before Enter is entered, and Esc comes after what it ends.
#include "app/window/key_queue.h"

#include <GLFW/glfw3.h>
#include <doctest/doctest.h>

#include <string>

using namespace gapscope;

namespace {

void tap(KeyQueue& keys, int key, int mods = 0) {
  keys.add({false, key, 0, GLFW_PRESS, mods, 0});
  if (key < GLFW_KEY_ESCAPE && mods == 0) keys.add({true, 0, 0, 0, 0, static_cast<unsigned>(key)});
  keys.add({false, key, 0, GLFW_RELEASE, mods, 0});
}

// A frame's presses: letters as they are, other keys as '<', with Ctrl as '^'.
std::string frame(KeyQueue& keys) {
  std::string out;
  for (const KeyEvent& e : keys.take())
    if (!e.is_character && e.action != GLFW_RELEASE)
      out += (e.mods & GLFW_MOD_CONTROL) ? '^' : e.key >= GLFW_KEY_ESCAPE ? '<' : static_cast<char>(e.key);
  return out;
}

}  // namespace

TEST_CASE("letters come together, other keys a frame each, after what was typed before and before what follows") {
  KeyQueue keys;
  for (const int key : {GLFW_KEY_A, GLFW_KEY_B, GLFW_KEY_ENTER, GLFW_KEY_ESCAPE, GLFW_KEY_W, GLFW_KEY_D}) tap(keys, key);
  CHECK(frame(keys) == "AB");
  CHECK(frame(keys) == "<");
  CHECK(frame(keys) == "<");
  CHECK(frame(keys) == "WD");
  CHECK(keys.empty());
  CHECK(keys.take().empty());
}

TEST_CASE("a key with Ctrl has a frame of its own, in which it is down") {
  KeyQueue keys;
  tap(keys, GLFW_KEY_A);
  keys.add({false, GLFW_KEY_LEFT_CONTROL, 0, GLFW_PRESS, GLFW_MOD_CONTROL, 0});
  tap(keys, GLFW_KEY_C, GLFW_MOD_CONTROL);
  keys.add({false, GLFW_KEY_LEFT_CONTROL, 0, GLFW_RELEASE, 0, 0});
  tap(keys, GLFW_KEY_B);
  CHECK(frame(keys) == "A");  // without Ctrl, which would have a text field leave it out
  const std::vector<KeyEvent> own = keys.take();
  REQUIRE(own.size() == 2);
  CHECK(own[0].key == GLFW_KEY_LEFT_CONTROL);
  CHECK(own[1] == KeyEvent{false, GLFW_KEY_C, 0, GLFW_PRESS, GLFW_MOD_CONTROL, 0});
  CHECK(frame(keys) == "B");
}

TEST_CASE("the modifiers are those of the keys that a frame has seen, not those that are down by then") {
  KeyQueue keys;
  const auto press = [&](int key, int action) { keys.add({false, key, 0, action, 0, 0}); };
  press(GLFW_KEY_RIGHT_CONTROL, GLFW_PRESS);
  press(GLFW_KEY_LEFT_SHIFT, GLFW_PRESS);
  tap(keys, GLFW_KEY_C, GLFW_MOD_CONTROL);
  press(GLFW_KEY_RIGHT_CONTROL, GLFW_RELEASE);
  press(GLFW_KEY_LEFT_SHIFT, GLFW_RELEASE);
  CHECK(keys.mods() == 0);
  CHECK(frame(keys) == "<<^");
  CHECK(keys.mods() == (GLFW_MOD_CONTROL | GLFW_MOD_SHIFT));
  keys.take();
  CHECK(keys.mods() == 0);
}

TEST_CASE("a held key does not lag behind: its repeats come together") {
  KeyQueue keys;
  keys.add({false, GLFW_KEY_DOWN, 0, GLFW_PRESS, 0, 0});
  for (int i = 0; i < 5; ++i) keys.add({false, GLFW_KEY_DOWN, 0, GLFW_REPEAT, 0, 0});
  CHECK(frame(keys) == "<");
  CHECK(frame(keys) == "<<<<<");
}

TEST_CASE("a key that came after a click waits until the click was shown") {
  KeyQueue keys;
  keys.add({false, GLFW_KEY_LEFT_SHIFT, 0, GLFW_PRESS, GLFW_MOD_SHIFT, 0});
  keys.add({false, GLFW_KEY_LEFT_SHIFT, 0, GLFW_RELEASE, 0, 0, 2});  // a press and a release lie between
  CHECK(keys.take(0).size() == 1);
  CHECK(keys.take(1).empty());
  CHECK(keys.take(2).size() == 1);
}
