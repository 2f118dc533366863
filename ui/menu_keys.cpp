#include "ui/menu_keys.h"

#include <algorithm>
#include <array>

#include <imgui_internal.h>

namespace gapscope {
namespace {

bool is_menu_open() { return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel); }

}  // namespace

bool keys_taken() { return ImGui::GetIO().WantTextInput || is_menu_open(); }

bool is_of_text_field(Key key) {
  static constexpr std::array kKeys = {Key::a,    Key::c,         Key::v,     Key::x,     Key::y,    Key::z,
                                       Key::left, Key::right,     Key::enter, Key::up,    Key::down, Key::home,
                                       Key::end,  Key::backspace, Key::del,   Key::insert};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

// Giving the focus back to the window closes menus in every version of Dear ImGui, and a press that came and went between two
// frames is in our list only.
void close_menus(std::span<const KeyPress> presses) {
  const bool typing = ImGui::GetIO().WantTextInput;
  const bool ends = std::any_of(presses.begin(), presses.end(),
                                [&](const KeyPress& p) { return p.key == Key::escape || (typing && p.key == Key::enter); });
  if (ends && is_menu_open()) ImGui::SetWindowFocus("gapscope");
}

void take_menu_escape(std::vector<KeyPress>& presses) {
  const ImVector<ImGuiWindow*>& windows = ImGui::GetCurrentContext()->Windows;
  const bool was_open = std::any_of(windows.begin(), windows.end(), [](const ImGuiWindow* window) {
    return window->WasActive && (window->Flags & ImGuiWindowFlags_Popup) != 0;
  });
  if (was_open) std::erase_if(presses, [](const KeyPress& press) { return press.key == Key::escape; });
}

void walk_menus([[maybe_unused]] std::span<const KeyPress> presses) {
  ImGuiIO& io = ImGui::GetIO();
  io.ConfigFlags &= ~ImGuiConfigFlags_NavEnableKeyboard;
  if (io.WantTextInput || !is_menu_open()) return;
#if IMGUI_VERSION_NUM < 18700
  if (io.KeyMap[ImGuiKey_Space] < 0) return;  // a context without a window has no keyboard
#endif
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
#if IMGUI_VERSION_NUM < 18900  // there Space alone chooses
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  const bool enter = std::any_of(presses.begin(), presses.end(), [](const KeyPress& p) {
    return p == KeyPress{Key::enter, kNoMods, false};
  });
  if (enter && context.NavId != 0 && !context.NavDisableHighlight) ImGui::ActivateItem(context.NavId);
#endif
}

}  // namespace gapscope
