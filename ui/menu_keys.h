#pragma once
// The keyboard while a menu is open: a menu of the bar, or what a right click opened.
#include <span>
#include <vector>

#include "ui/keys.h"

namespace gapscope {

// True while keys belong to a text field or an open menu.
bool keys_taken();
// What a text field does with Ctrl, with or without Shift.
bool is_of_text_field(Key key);
// Esc closes an open menu, and Enter one with a text field.
void close_menus(std::span<const KeyPress> presses);
// Takes out the Esc by which Dear ImGui closed a menu before the frame began: it closes nothing else.
void take_menu_escape(std::vector<KeyPress>& presses);
// Once a frame: arrows and Enter are an open menu's from the next frame on; elsewhere they are ours, and not Dear ImGui's.
void walk_menus(std::span<const KeyPress> presses);

}  // namespace gapscope
