#pragma once
// A one-line text field on a std::string (imgui_stdlib is not in every build of Dear ImGui).
#include <string>

#include <imgui.h>

namespace gapscope {

// The field that was just drawn has the keyboard from the next frame on. Asked for before it is drawn, as Dear ImGui offers
// too, it never comes to fields of child windows in 1.90.
void give_keys_to_last_item();

bool text_field(const char* label, const char* hint, std::string& text, ImGuiInputTextFlags flags = 0);
// Several lines, `size` px.
bool text_lines(const char* label, std::string& text, ImVec2 size);

}  // namespace gapscope
