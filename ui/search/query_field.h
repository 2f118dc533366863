#pragma once
// A text field that leaves and takes the keyboard as its owner says: Escape, Enter and Tab mean what the owner makes of them,
// not what Dear ImGui does (which takes back what was typed, or continues to the next field).
#include <span>
#include <string>

#include <imgui.h>
#include "ui/keys.h"

namespace gapscope {

struct QueryField {
  std::string& text;
  bool& caret_to_end;      // instead of all text being marked, to be typed over; cleared once it is done
  bool take_keys = false;  // in this frame
  bool leave_keys = false;
  char opener = 0;           // the letter of the key that led here: not part of the text
  bool awaits_keys = false;  // is about to have the keyboard: letters that come before it does are not lost
  bool* replaced = nullptr;  // `text` was changed by the owner while the field has the keyboard; cleared once it is taken over
};

// True while it has the keyboard.
bool draw_query_field(const char* id, const char* hint, float width, const QueryField& field);

// True when `key` was pressed with exactly these modifiers.
bool pressed(std::span<const KeyPress> presses, Key key, unsigned char mods = kNoMods);

}  // namespace gapscope
