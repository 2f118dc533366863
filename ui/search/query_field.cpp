#include "ui/search/query_field.h"

#include <algorithm>

#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

int on_edit(ImGuiInputTextCallbackData* data) {
  const auto& field = *static_cast<const QueryField*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
    field.text.resize(static_cast<std::size_t>(data->BufTextLen));
    data->Buf = field.text.data();
    return 0;
  }
  if (data->EventFlag != ImGuiInputTextFlags_CallbackAlways) return 0;  // Tab: its owner sees the key
  if (field.replaced && *field.replaced) {
    data->DeleteChars(0, data->BufTextLen);
    data->InsertChars(0, field.text.data(), field.text.data() + field.text.size());
    *field.replaced = false;
    field.caret_to_end = true;
  }
  if (field.caret_to_end) {
    data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;
    field.caret_to_end = false;
  }
  return 0;
}

void append_utf8(std::string& text, ImWchar wide) {
  const unsigned c = wide;
  const auto byte = [&](unsigned bits) { text += static_cast<char>(bits); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xC0 | (c >> 6));
  } else {
    byte(0xE0 | ((c >> 12) & 0xF));
    byte(0x80 | ((c >> 6) & 0x3F));
  }
  byte(0x80 | (c & 0x3F));
}

// The first of them replaces what is marked.
void take_early_letters(const QueryField& field) {
  ImVector<ImWchar>& letters = ImGui::GetIO().InputQueueCharacters;
  for (const ImWchar letter : letters) {
    const bool first = !field.caret_to_end;
    if (letter < ' ' || letter == 0x7F || (first && static_cast<unsigned>(letter) == static_cast<unsigned char>(field.opener)))
      continue;
    if (first) field.text.clear();
    append_utf8(field.text, letter);
    field.caret_to_end = true;
  }
  letters.resize(0);
}

}  // namespace

bool draw_query_field(const char* id, const char* hint, float width, const QueryField& field) {
  if (field.leave_keys) {  // a field that is not drawn loses the keyboard, and what was typed stays
    ImGui::Dummy({width, ImGui::GetFrameHeight()});
    return false;
  }
  if (field.awaits_keys) take_early_letters(field);
  ImGui::SetNextItemWidth(width);
  ImGui::InputTextWithHint(id, hint, field.text.data(), field.text.capacity() + 1,
                           ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_CallbackAlways |
                               (field.replaced ? ImGuiInputTextFlags_CallbackCompletion : 0) |
                               (field.awaits_keys ? ImGuiInputTextFlags_AutoSelectAll : 0),
                           on_edit, const_cast<QueryField*>(&field));
  if (field.take_keys) give_keys_to_last_item();
  return ImGui::IsItemActive();
}

bool pressed(std::span<const KeyPress> presses, Key key, unsigned char mods) {
  return std::any_of(presses.begin(), presses.end(), [&](const KeyPress& p) { return p.key == key && p.mods == mods; });
}

}  // namespace gapscope
