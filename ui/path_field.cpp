#include "ui/path_field.h"

#include <imgui.h>
#include "ui/path_completion.h"

namespace gapscope {
namespace {

struct Typing {
  std::string& text;
  const FolderView* folder;
};

int edit(ImGuiInputTextCallbackData* data) {
  auto& typing = *static_cast<Typing*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
    typing.text.resize(static_cast<std::size_t>(data->BufTextLen));
    data->Buf = typing.text.data();
  } else if (data->EventFlag == ImGuiInputTextFlags_CallbackCompletion && typing.folder) {
    const std::string typed(data->Buf, static_cast<std::size_t>(data->BufTextLen));
    const std::string whole = completed(typed, *typing.folder);
    data->InsertChars(data->BufTextLen, whole.c_str() + typed.size(), whole.c_str() + whole.size());
  }
  return 0;
}

}  // namespace

bool path_field(const char* label, const char* hint, std::string& path, const FolderView* folder) {
  Typing typing{path, folder};
  return ImGui::InputTextWithHint(label, hint, path.data(), path.capacity() + 1,
                                  ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackResize |
                                      ImGuiInputTextFlags_CallbackCompletion,
                                  edit, &typing);
}

}  // namespace gapscope
