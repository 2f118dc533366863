#include "ui/keys.h"

#include <array>

namespace gapscope {
namespace {

// In the order of the enum.
constexpr std::array<std::string_view, static_cast<std::size_t>(Key::count)> kNames = {
    "",     "A",       "B",         "C",    "D",   "E",   "F",     "G",   "H",     "I",         "J",      "K",      "L",
    "M",    "N",       "O",         "P",    "Q",   "R",   "S",     "T",   "U",     "V",         "W",      "X",      "Y",
    "Z",    "0",       "1",         "2",    "3",   "4",   "5",     "6",   "7",     "8",         "9",      "F1",     "F2",
    "F3",   "F4",      "F5",        "F6",   "F7",  "F8",  "F9",    "F10", "F11",   "F12",       "Left",   "Right",  "Up",
    "Down", "Page up", "Page down", "Home", "End", "Esc", "Enter", "Tab", "Space", "Backspace", "Delete", "Insert", "?",
    "/",    ",",       ".",         ";",    "+",   "-",   "=",     "[",   "]",
};

}  // namespace

std::string_view key_name(Key key) { return key < Key::count ? kNames[static_cast<std::size_t>(key)] : ""; }

}  // namespace gapscope
