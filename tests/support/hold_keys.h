#pragma once
// Keys that Dear ImGui sees held: up to 1.86 these are fields of its ImGuiIO, later ones take events.
#include <imgui.h>

namespace gapscope::test {

inline void hold_key(ImGuiKey key, bool down) {
  ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM < 18700
  io.KeyMap[key] = key + 1;  // as the window's backend maps all
  io.KeysDown[key + 1] = down;
#else
  io.AddKeyEvent(key, down);
#endif
}

inline void hold_modifiers(bool ctrl, bool shift, bool alt = false) {
  ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM < 18700
  io.KeyCtrl = ctrl;
  io.KeyShift = shift;
  io.KeyAlt = alt;
#else
  io.AddKeyEvent(ImGuiMod_Ctrl, ctrl);
  io.AddKeyEvent(ImGuiMod_Shift, shift);
  io.AddKeyEvent(ImGuiMod_Alt, alt);
#endif
}

}  // namespace gapscope::test
