#include "ui/query_field.h"

#include <algorithm>

namespace gapscope {
namespace {

int on_edit(ImGuiInputTextCallbackData* data) {
  const auto& field = *static_cast<const QueryField*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
    field.text.resize(static_cast<std::size_t>(data->BufTextLen));
    data->Buf = field.text.data();
  } else if (field.caret_to_end) {
    data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;
    field.caret_to_end = false;
  }
  return 0;
}

}  // namespace

bool draw_query_field(const char* id, const char* hint, float width, const QueryField& field) {
  if (field.leave_keys) {  // a field that is not drawn loses the keyboard, and what was typed stays
    ImGui::Dummy({width, ImGui::GetFrameHeight()});
    return false;
  }
  if (field.take_keys) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(width);
  ImGui::InputTextWithHint(id, hint, field.text.data(), field.text.capacity() + 1,
                           ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_CallbackAlways, on_edit,
                           const_cast<QueryField*>(&field));
  return ImGui::IsItemActive();
}

bool pressed(std::span<const KeyPress> presses, Key key, unsigned char mods) {
  return std::any_of(presses.begin(), presses.end(), [&](const KeyPress& p) { return p.key == key && p.mods == mods; });
}

}  // namespace gapscope
