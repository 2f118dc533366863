#pragma once
// Keys as the interface knows them, so that ui/ needs neither GLFW nor the key codes of one Dear ImGui version.
//
// Letters, digits and punctuation mean what the keyboard layout writes there, not a position: `w` is the key that types
// a w, and `?` arrives as Key::question whichever keys typed it (without the shift modifier, which it used up).
#include <bitset>
#include <string_view>

namespace gapscope {

// In rows as on a keyboard.
// clang-format off
enum class Key : unsigned char {
  none,
  a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z,  // in order, for arithmetic
  digit_0, digit_1, digit_2, digit_3, digit_4, digit_5, digit_6, digit_7, digit_8, digit_9,
  f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12,
  left, right, up, down, page_up, page_down, home, end,
  escape, enter, tab, space, backspace, del, insert,
  question, slash, comma, period, semicolon, plus, minus, equal, left_bracket, right_bracket,
  count  // how many there are; not a key
};
// clang-format on

// Bits of KeyPress::mods.
enum Mods : unsigned char { kNoMods = 0, kShift = 1, kCtrl = 2, kAlt = 4, kSuper = 8 };

// One press or auto-repeat. A list of these per frame keeps a press that came and went between two frames.
struct KeyPress {
  Key key = Key::none;
  unsigned char mods = kNoMods;
  bool repeat = false;
  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

// The keys that are down right now, for movement while held; index with static_cast<std::size_t>(key).
using HeldKeys = std::bitset<static_cast<std::size_t>(Key::count)>;

inline bool is_held(const HeldKeys& held, Key key) { return held.test(static_cast<std::size_t>(key)); }

// "W", "F1", "Page up", "?": as the help page prints it. Empty for Key::none.
std::string_view key_name(Key key);

}  // namespace gapscope
