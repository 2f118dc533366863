#pragma once
// From GLFW's key codes to ours.
#include "ui/keys.h"

namespace gapscope {

// `layout_name` is glfwGetKeyName's answer (may be null): what the layout types there wins over the position.
Key key_from_glfw(int glfw_key, const char* layout_name);
unsigned char mods_from_glfw(int glfw_mods);
// Key::none unless the character is one of our punctuation keys.
Key punctuation_key(unsigned int code_point);

}  // namespace gapscope
