#include "ui/sql/sql_editor.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <imgui.h>
#include <imgui_internal.h>

#include "core/sql/tokens.h"
#include "core/view/sql/sql_examples.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostCompletions = 8;
constexpr int kFramesToKeys = 8;
constexpr double kShownByClick = 0.5;  // s between a click and the field that it showed

struct Edit {
  SqlState& state;
  const SqlAnswer* known;
  std::size_t caret = 0;
};

// What the word before the caret can be made into: names that the query itself gives, then those of tables and the language.
std::vector<std::string> offers(const SqlAnswer& known, std::string_view text, std::string_view word, std::size_t most) {
  std::vector<std::string> found;
  if (word.empty()) return found;
  const auto add = [&](std::string name) {
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(std::move(name));
  };
  for (const sql::Token& token : sql::tokens_of(text))
    if (token.kind == sql::Token::Kind::word && token.text.size() > word.size() && token.text.starts_with(word))
      add(std::string(token.text));
  for (std::string& name : completions(known, word, most)) add(std::move(name));
  if (found.size() > most) found.resize(most);
  return found;
}

void complete(ImGuiInputTextCallbackData& data, const Edit& edit) {
  if (!edit.known) return;
  const std::string_view text(data.Buf, static_cast<std::size_t>(data.BufTextLen));
  const std::string_view word = word_before(text, static_cast<std::size_t>(data.CursorPos));
  const std::vector<std::string> found = offers(*edit.known, text, word, 1);
  if (found.empty()) return;
  data.InsertChars(data.CursorPos, found[0].c_str() + word.size());
}

int on_edit(ImGuiInputTextCallbackData* data) {
  auto& edit = *static_cast<Edit*>(data->UserData);
  std::string& text = edit.state.text;
  if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
    text.resize(static_cast<std::size_t>(data->BufTextLen));
    data->Buf = text.data();
    return 0;
  }
  if (data->EventFlag == ImGuiInputTextFlags_CallbackCompletion) complete(*data, edit);
  if (data->EventFlag != ImGuiInputTextFlags_CallbackAlways) return 0;
  if (edit.state.replaced) {
    const std::string whole = text;  // InsertChars may move what `text` holds
    data->DeleteChars(0, data->BufTextLen);
    data->InsertChars(0, whole.data(), whole.data() + whole.size());
    edit.state.replaced = false;
  }
  edit.caret = edit.state.caret = static_cast<std::size_t>(data->CursorPos);
  return 0;
}

Rgb colour_of(const sql::Token& token, const Theme& theme) {
  switch (token.kind) {
    case sql::Token::Kind::word: return is_sql_keyword(token.text) ? theme.accent : theme.text;
    case sql::Token::Kind::text: return theme.good;
    case sql::Token::Kind::number: return theme.notable;
    default: return theme.text;
  }
}

// Puts runs of a colour where the field has its own text, in the same face. The field lies over it, as a window within this
// one, and shows nothing of its own but what is selected.
class Ink {
 public:
  Ink(ImVec2 at, std::string_view text) : list_(*ImGui::GetWindowDrawList()), at_(at), left_(at.x), text_(text) {}
  void put(std::size_t begin, std::size_t end, Rgb rgb) {
    while (begin < end) {
      const std::size_t line = std::min(text_.find('\n', begin), end);
      if (line > begin) {
        const char *from = text_.data() + begin, *to = text_.data() + line;
        list_.AddText(at_, colour(rgb), from, to);
        at_.x += ImGui::CalcTextSize(from, to).x;
      }
      if (line == end) return;
      at_ = {left_, at_.y + ImGui::GetFontSize()};
      begin = line + 1;
    }
  }

 private:
  ImDrawList& list_;
  ImVec2 at_;
  float left_;
  std::string_view text_;
};

void draw_coloured(ImVec2 at, std::string_view text, const Theme& theme) {
  Ink ink(at, text);
  std::size_t done = 0;
  for (const sql::Token& token : sql::tokens_of(text)) {
    ink.put(done, token.offset, theme.muted);  // space and comments
    done = token.offset + token.text.size();
    ink.put(token.offset, done, colour_of(token, theme));
  }
  ink.put(done, text.size(), theme.muted);
}

ImVec2 place_of_caret(ImVec2 at, std::string_view text, std::size_t caret) {
  const std::string_view before = text.substr(0, std::min(caret, text.size()));
  const std::size_t line = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {at.x + ImGui::CalcTextSize(before.data() + line, before.data() + before.size()).x,
          at.y + ImGui::GetFontSize() * static_cast<float>(std::count(before.begin(), before.end(), '\n'))};
}

// Scrolls the window around the field by as little as brings the caret into sight.
void follow_caret(ImVec2 caret) {
  const ImVec2 at = ImGui::GetWindowPos(), room = ImGui::GetWindowSize();
  const float height = ImGui::GetFontSize(), right = at.x + room.x - 2 * height, bottom = at.y + room.y - 3 * height;
  if (caret.x > right) ImGui::SetScrollX(ImGui::GetScrollX() + caret.x - right);
  if (caret.x < at.x + height) ImGui::SetScrollX(std::max(0.0f, ImGui::GetScrollX() + caret.x - at.x - height));
  if (caret.y > bottom) ImGui::SetScrollY(ImGui::GetScrollY() + caret.y - bottom);
  if (caret.y < at.y) ImGui::SetScrollY(std::max(0.0f, ImGui::GetScrollY() + caret.y - at.y));
}

void draw_completions(const Edit& edit, const Theme& theme) {
  const std::string_view word = word_before(edit.state.text, edit.caret);
  const std::vector<std::string> found = edit.known && edit.state.has_keys
                                             ? offers(*edit.known, edit.state.text, word, kMostCompletions)
                                             : std::vector<std::string>{};
  std::string line = found.empty() ? "" : "Tab:";
  for (const std::string& candidate : found) line += "  " + candidate;
  if (line.empty()) line = "Ctrl+Enter or F5 runs the query.";
  draw_text(Face::sans, theme.muted, line);
}

// In how many more frames at most it asks for the keyboard: Dear ImGui needs a few to know the field. Below 0: in how many it
// lets go of what it asked for before.
int& frames_to_keys() { return *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("frames to keys"), 0); }

// The click that shows the field gives it the keyboard; a start with this tab in front does not. `has_keys`: it or the waiting
// for it was not given up.
void take_keys_where_shown(bool has_keys) {
  const double clicked = ImGui::GetIO().MouseClickedTime[0];
  int& frames = frames_to_keys();
  if (ImGui::IsWindowAppearing() && clicked > 0 && ImGui::GetTime() - clicked < kShownByClick)
    frames = kFramesToKeys;
  else if (frames > 0 && !has_keys)
    frames = -kFramesToKeys;
  if (ImGui::IsMouseClicked(0)) frames = std::max(0, frames);
  if (frames > 0) give_keys_to_last_item();
  frames += frames > 0 ? -1 : frames < 0 ? 1 : 0;
}

}  // namespace

bool draw_sql_editor(SqlState& state, const SqlAnswer* known, float height, const WindowState& window) {
  const Theme& theme = theme_of(window);
  const auto lines = static_cast<float>(std::count(state.text.begin(), state.text.end(), '\n') + 2);
  const float line = ImGui::GetTextLineHeightWithSpacing();
  ImGui::BeginChild("editor", {0, std::max(line * 3, height - line)}, false, ImGuiWindowFlags_HorizontalScrollbar);
  push_face(Face::mono);
  Edit edit{state, known};
  const std::size_t last = state.caret;
  // As large as its text: the window around it scrolls, and the colours stay over their letters.
  const float wide = ImGui::CalcTextSize(state.text.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x + ImGui::GetFontSize();
  const float own =
      std::max(ImGui::GetContentRegionAvail().y, lines * ImGui::GetFontSize() + 2 * ImGui::GetStyle().FramePadding.y);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size{std::max(wide, ImGui::GetContentRegionAvail().x), own};
  const std::string typed = state.text;
  ImGui::PushStyleColor(ImGuiCol_FrameBg, ImVec4{});
  ImGui::PushStyleColor(ImGuiCol_Text, ImVec4{});  // its caret, too
  const bool run = ImGui::InputTextMultiline("##sql", state.text.data(), state.text.capacity() + 1, size,
                                             ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_CallbackCompletion |
                                                 ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_EnterReturnsTrue |
                                                 ImGuiInputTextFlags_NoHorizontalScroll,
                                             on_edit, &edit);
  take_keys_where_shown(state.has_keys);
  if (ImGui::IsItemActive() && frames_to_keys() < 0) ImGui::ClearActiveID();
  if (ImGui::IsItemActive()) frames_to_keys() = 0;
  if (ImGui::IsItemDeactivated() && !run) state.text = typed;  // Esc leaves the field; Dear ImGui would undo what was typed
  if (run) frames_to_keys() = kFramesToKeys;                   // Ctrl+Enter makes Dear ImGui give the keyboard back
  state.has_keys = ImGui::IsItemActive() || frames_to_keys() > 0;
  ImGui::PopStyleColor(2);
  const ImVec2 padding = ImGui::GetStyle().FramePadding, first{at.x + padding.x, at.y + padding.y};
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size.x, at.y + size.y}, colour(theme.raised),
                                            ImGui::GetStyle().FrameRounding);
  draw_coloured(first, state.text, theme);
  if (state.has_keys) {
    const ImVec2 caret = place_of_caret(first, state.text, edit.caret);
    ImGui::GetWindowDrawList()->AddLine(caret, {caret.x, caret.y + ImGui::GetFontSize()}, colour(theme.text));
    if (edit.caret != last) follow_caret(caret);
  }
  pop_face();
  ImGui::EndChild();
  draw_completions(edit, theme);
  return run;
}

}  // namespace gapscope
