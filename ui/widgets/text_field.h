#pragma once
// A one-line text field on a std::string (imgui_stdlib is not in every build of Dear ImGui).
#include <string>

#include <imgui.h>

namespace gapscope {

bool text_field(const char* label, const char* hint, std::string& text, ImGuiInputTextFlags flags = 0);
// Several lines, `size` px.
bool text_lines(const char* label, std::string& text, ImVec2 size);

}  // namespace gapscope
