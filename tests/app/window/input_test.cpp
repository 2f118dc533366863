#include "app/window/input.h"

#include <GLFW/glfw3.h>
#include <doctest/doctest.h>

#include "app/window/key_map.h"

using namespace gapscope;

// No GLFW is running here, so keys have no layout names and mean their positions on a US keyboard.
TEST_CASE("a press and release between two frames is still a press") {
  InputCollector collector;
  collector.on_key(GLFW_KEY_W, 0, GLFW_PRESS, 0);
  collector.on_key(GLFW_KEY_W, 0, GLFW_RELEASE, 0);
  const WindowInput input = collector.take();
  CHECK(input.presses == std::vector<KeyPress>{{Key::w, kNoMods, false}});
  CHECK_FALSE(is_held(input.held, Key::w));
  CHECK(collector.take().presses.empty());
}

TEST_CASE("a key stays held over frames until it is released or the focus goes") {
  InputCollector collector;
  collector.on_key(GLFW_KEY_D, 0, GLFW_PRESS, GLFW_MOD_SHIFT);
  CHECK(is_held(collector.take().held, Key::d));
  CHECK(is_held(collector.take().held, Key::d));
  collector.on_focus(false);
  CHECK(collector.take().held.none());
}

TEST_CASE("an auto-repeat says that it is one") {
  InputCollector collector;
  collector.on_key(GLFW_KEY_LEFT, 0, GLFW_REPEAT, GLFW_MOD_CONTROL);
  CHECK(collector.take().presses == std::vector<KeyPress>{{Key::left, kCtrl, true}});
}

TEST_CASE("punctuation is the character that was typed, once, without the shift that typed it") {
  InputCollector collector;
  collector.on_key(GLFW_KEY_SLASH, 0, GLFW_PRESS, GLFW_MOD_SHIFT);
  collector.on_char('?');
  CHECK(collector.take().presses == std::vector<KeyPress>{{Key::question, kNoMods, false}});
}

TEST_CASE("letters typed as characters are not pressed twice") {
  InputCollector collector;
  collector.on_key(GLFW_KEY_F, 0, GLFW_PRESS, 0);
  collector.on_char('f');
  CHECK(collector.take().presses.size() == 1);
}

TEST_CASE("dropped files arrive together") {
  InputCollector collector;
  const char* paths[] = {"/tmp/a b.json", "/tmp/c.json.gz"};
  collector.on_drop(2, paths, true);
  const WindowInput input = collector.take();
  REQUIRE(input.drops.size() == 1);
  CHECK(input.drops[0].paths == std::vector<std::string>{"/tmp/a b.json", "/tmp/c.json.gz"});
  CHECK(input.drops[0].shift);
}

TEST_CASE("every event asks for a frame, once") {
  InputCollector collector;
  CHECK(collector.take_touched());  // the first frame
  CHECK_FALSE(collector.take_touched());
  collector.on_char('x');
  CHECK(collector.take_touched());
}

TEST_CASE("what the layout types wins over the position") {
  CHECK(key_from_glfw(GLFW_KEY_Q, "a") == Key::a);         // AZERTY
  CHECK(key_from_glfw(GLFW_KEY_Q, "\xD0\xB9") == Key::q);  // Cyrillic: the position
  CHECK(key_from_glfw(GLFW_KEY_KP_ADD, nullptr) == Key::plus);
  CHECK(key_from_glfw(GLFW_KEY_LEFT_SHIFT, nullptr) == Key::none);
  CHECK(punctuation_key('[') == Key::left_bracket);
  CHECK(punctuation_key(0x13F) == Key::none);  // not '?', whatever its last byte
}

TEST_CASE("a drag between two frames is the way, a press, the way, and a release, each where it was") {
  InputCollector collector;
  collector.on_pointer(12.5, 30);
  collector.on_button(GLFW_MOUSE_BUTTON_LEFT, true);
  collector.on_pointer(80, 31);
  collector.on_button(GLFW_MOUSE_BUTTON_LEFT, false);
  collector.on_pointer(0, 0);  // it has gone on
  CHECK(collector.take_pointer() == PointerState{12.5f, 30, {false, false, false}});
  CHECK(collector.take_pointer() == PointerState{12.5f, 30, {true, false, false}});
  CHECK(collector.take_pointer() == PointerState{80, 31, {true, false, false}});
  CHECK(collector.has_pointers());
  CHECK(collector.take_pointer() == PointerState{80, 31, {false, false, false}});
  CHECK_FALSE(collector.has_pointers());
  CHECK_FALSE(collector.take_pointer());
}

TEST_CASE("two clicks between two frames are two clicks, and a button of a strange mouse none") {
  InputCollector collector;
  collector.on_pointer(5, 6);
  for (int i = 0; i < 2; ++i) {
    collector.on_button(GLFW_MOUSE_BUTTON_RIGHT, true);
    collector.on_button(GLFW_MOUSE_BUTTON_RIGHT, false);
  }
  collector.on_button(GLFW_MOUSE_BUTTON_LAST, true);
  for (const bool down : {false, true, false, true, false})
    CHECK(collector.take_pointer() == PointerState{5, 6, {false, down, false}});
  CHECK_FALSE(collector.take_pointer());
}

TEST_CASE("a click that came after a key waits until the key was shown") {
  InputCollector collector;
  collector.hold_key({});
  collector.on_pointer(7, 8);
  collector.on_button(0, true);
  REQUIRE(collector.take_pointer());
  CHECK_FALSE(collector.take_pointer()->down[0]);  // as it was
  CHECK(collector.has_pointers());
}
