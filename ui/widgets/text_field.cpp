#include "ui/widgets/text_field.h"

#include <string_view>

#include "ui/widgets/grid_keys.h"

namespace gapscope {
namespace {

int grow_text(ImGuiInputTextCallbackData* data) {
  if (data->EventFlag != ImGuiInputTextFlags_CallbackResize) return 0;
  auto& text = *static_cast<std::string*>(data->UserData);
  text.resize(static_cast<std::size_t>(data->BufTextLen));
  data->Buf = text.data();
  return 0;
}

}  // namespace

void give_keys_to_last_item() { ImGui::SetKeyboardFocusHere(-1); }

bool text_field(const char* label, const char* hint, std::string& text, ImGuiInputTextFlags flags) {
  const bool done = ImGui::InputTextWithHint(label, hint, text.data(), text.capacity() + 1,
                                             flags | ImGuiInputTextFlags_CallbackResize, grow_text, &text);
  if (std::string_view(label) == kFilterField && take_filter_keys()) give_keys_to_last_item();
  return done;
}

bool text_lines(const char* label, std::string& text, ImVec2 size) {
  return ImGui::InputTextMultiline(label, text.data(), text.capacity() + 1, size, ImGuiInputTextFlags_CallbackResize, grow_text,
                                   &text);
}

}  // namespace gapscope
