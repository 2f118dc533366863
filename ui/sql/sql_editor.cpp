#include "ui/sql/sql_editor.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <imgui.h>
#include <imgui_internal.h>

#include "core/base/text.h"
#include "core/sql/tokens.h"
#include "core/view/sql/sql_examples.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostCompletions = 8;
constexpr int kFramesToKeys = 8;
constexpr double kShownByClick = 0.5;  // s between a click and the field that it showed

// The UI thread's own, as the delay of tooltips is.
struct Keys {
  bool wanted = false;
  int pointed = 0;    // frame in which the pointer was there last
  bool moved = true;  // it, since the field had the keyboard: after Esc a letter is a command
};
Keys keys;

struct Edit {
  SqlState& state;
  const SqlAnswer* known;
  std::string& shown;         // what Dear ImGui edits
  std::size_t letters;        // of a line, now
  std::size_t letters_known;  // and as Dear ImGui has it
  bool begins;                // with the keyboard that was asked for
};

void complete(ImGuiInputTextCallbackData& data, const Edit& edit) {
  if (!edit.known || ImGui::GetIO().KeyCtrl) return;  // Ctrl+Tab shows another tab
  const std::string_view text(data.Buf, static_cast<std::size_t>(data.BufTextLen));
  const auto caret = static_cast<std::size_t>(data.CursorPos);
  const std::vector<std::string> found = completions(*edit.known, text, caret, 1);
  if (!found.empty()) data.InsertChars(data.CursorPos, found[0].c_str() + word_before(text, caret).size());
}

// What was typed into the wrapped text is done to the text: what is before and behind it is as it was.
void take_edit(std::string& text, std::string_view before, std::string_view after) {
  const std::size_t most = std::min(before.size(), after.size());
  const auto differ = static_cast<std::size_t>(
      std::mismatch(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(most), after.begin()).first - before.begin());
  std::size_t same = 0;
  while (same < most - differ && before[before.size() - 1 - same] == after[after.size() - 1 - same]) ++same;
  text.replace(differ, before.size() - same - differ, after.substr(differ, after.size() - same - differ));
}

void show_again(ImGuiInputTextCallbackData& data, const std::string& text) {
  const int caret = data.CursorPos;
  data.DeleteChars(0, data.BufTextLen);
  data.InsertChars(0, text.data(), text.data() + text.size());
  data.CursorPos = std::min(caret, data.BufTextLen);
}

int on_edit(ImGuiInputTextCallbackData* data) {
  auto& edit = *static_cast<Edit*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
    edit.shown.resize(static_cast<std::size_t>(data->BufTextLen));
    data->Buf = edit.shown.data();
    return 0;
  }
  if (data->EventFlag == ImGuiInputTextFlags_CallbackCompletion) complete(*data, edit);
  const std::string_view after(data->Buf, static_cast<std::size_t>(data->BufTextLen));
  if (!edit.state.replaced) take_edit(edit.state.text, wrapped_query(edit.state.text, edit.letters_known), after);
  const bool to_caret = edit.begins || edit.state.replaced;
  edit.state.replaced = false;
  if (const std::string wrapped = wrapped_query(edit.state.text, edit.letters); wrapped != after) {
    const int from = data->SelectionStart, to = data->SelectionEnd;
    show_again(*data, wrapped);
    if (!to_caret) data->SelectionStart = from, data->SelectionEnd = to;
  }
  if (to_caret)
    data->CursorPos = data->SelectionStart = data->SelectionEnd =
        static_cast<int>(std::min(edit.state.caret, edit.state.text.size()));
  edit.state.caret = static_cast<std::size_t>(data->CursorPos);
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

// Puts runs of a colour where the field has its own text, in the same face. The field is over it, as a window within this
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

// `shown`: the text, wrapped.
void draw_coloured(ImVec2 at, std::string_view text, std::string_view shown, const Theme& theme) {
  Ink ink(at, shown);
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

void draw_completions(const SqlState& state, const SqlAnswer* known, const Theme& theme) {
  const std::vector<std::string> found =
      known && state.has_keys ? completions(*known, state.text, state.caret, kMostCompletions) : std::vector<std::string>{};
  std::string line = found.empty() ? "" : "Tab:";
  for (const std::string& candidate : found) line += "  " + candidate;
  if (line.empty()) line = "Ctrl+Enter or F5 runs the query.";
  draw_text(Face::sans, theme.muted, line);
}

// In how many more frames at most it asks for the keyboard: Dear ImGui needs a few to know the field. Below 0: in how many it
// lets go of what it asked for before.
int& frames_to_keys() { return *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("frames to keys"), 0); }

bool is_menu_open() { return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel); }

// What is typed before the field has the keyboard goes to where its caret is.
void take_early_letters(SqlState& state) {
  ImVector<ImWchar>& letters = ImGui::GetIO().InputQueueCharacters;
  for (const ImWchar letter : letters) {
    if (letter < ' ' || letter > '~') continue;
    state.caret = std::min(state.caret, state.text.size());
    state.text.insert(state.caret++, 1, static_cast<char>(letter));
  }
  letters.resize(0);
}

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
  if (keys.wanted && !is_menu_open() && !ImGui::IsMouseDown(0)) keys.wanted = false, frames = kFramesToKeys;
  if (frames > 0) give_keys_to_last_item();
  frames += frames > 0 ? -1 : frames < 0 ? 1 : 0;
}

}  // namespace

bool draw_sql_editor(SqlState& state, const SqlAnswer* known, float height, const WindowState& window) {
  const Theme& theme = theme_of(window);
  const float line = ImGui::GetTextLineHeightWithSpacing();
  ImGui::BeginChild("editor", {0, std::max(line * 3, height - line)}, false, ImGuiWindowFlags_HorizontalScrollbar);
  push_face(Face::mono);
  const ImVec2 padding = ImGui::GetStyle().FramePadding, at = ImGui::GetCursorScreenPos(),
               room = ImGui::GetContentRegionAvail();
  const float margin = 2 * padding.x + ImGui::GetFontSize();
  const auto letters = static_cast<std::size_t>(std::max(1.0f, (room.x - margin) / ImGui::CalcTextSize("m").x));
  int& letters_before = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("letters"), static_cast<int>(letters));
  const bool begins = frames_to_keys() > 0;
  if (begins) take_early_letters(state);
  std::string shown = wrapped_query(state.text, letters);
  const bool is_edited = ImGui::GetActiveID() == ImGui::GetID("##sql");  // else it takes over what is shown now
  Edit edit{state, known, shown, letters, is_edited ? static_cast<std::size_t>(letters_before) : letters, begins};
  letters_before = static_cast<int>(letters);
  const std::size_t last = state.caret;
  // As large as its text: the window around it scrolls, and the colours stay over their letters.
  const auto lines = static_cast<float>(std::count(shown.begin(), shown.end(), '\n') + 2);
  const ImVec2 size{std::max(ImGui::CalcTextSize(shown.c_str()).x + margin, room.x),
                    std::max(room.y, lines * ImGui::GetFontSize() + 2 * padding.y)};
  ImGui::PushStyleColor(ImGuiCol_FrameBg, ImVec4{});
  ImGui::PushStyleColor(ImGuiCol_Text, ImVec4{});  // its caret, too
  const bool run = ImGui::InputTextMultiline("##sql", shown.data(), shown.capacity() + 1, size,
                                             ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_CallbackCompletion |
                                                 ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_EnterReturnsTrue |
                                                 ImGuiInputTextFlags_NoHorizontalScroll,
                                             on_edit, &edit);
  take_keys_where_shown(state.has_keys);
  if (ImGui::IsItemActive() && frames_to_keys() < 0) ImGui::ClearActiveID();
  if (ImGui::IsItemActive()) frames_to_keys() = 0;
  if (run) frames_to_keys() = kFramesToKeys;  // Ctrl+Enter makes Dear ImGui give the keyboard back
  state.has_keys = ImGui::IsItemActive() || frames_to_keys() > 0;
  const ImVec2 way = ImGui::GetIO().MouseDelta;
  keys.moved = !state.has_keys && (keys.moved || way.x != 0 || way.y != 0);
  ImGui::PopStyleColor(2);
  const ImVec2 first{at.x + padding.x, at.y + padding.y};
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size.x, at.y + size.y}, colour(theme.raised),
                                            ImGui::GetStyle().FrameRounding);
  shown = wrapped_query(state.text, letters);  // Esc leaves the field; Dear ImGui would undo what was typed
  draw_coloured(first, state.text, shown, theme);
  if (state.has_keys) {
    const ImVec2 caret = place_of_caret(first, shown, state.caret);
    ImGui::GetWindowDrawList()->AddLine(caret, {caret.x, caret.y + ImGui::GetFontSize()}, colour(theme.text));
    if (state.caret != last) follow_caret(caret);
  }
  pop_face();
  ImGui::EndChild();
  draw_completions(state, known, theme);
  return run;
}

std::string wrapped_query(std::string_view text, std::size_t letters) {
  std::string out(text);
  std::size_t space = std::string::npos;  // the last one in the line
  std::size_t in_line = 0;                // letters
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '\n') {
      space = std::string::npos;
      in_line = 0;
      continue;
    }
    if (out[i] == ' ') space = i;
    in_line += (static_cast<unsigned char>(out[i]) & 0xC0) == 0x80 ? 0 : 1;
    if (in_line <= letters || space == std::string::npos) continue;
    out[space] = '\n';
    in_line = utf8_length(std::string_view(out).substr(space + 1, i - space));
    space = std::string::npos;
  }
  return out;
}

void give_keys_to_sql_editor() { keys.wanted = true; }

void point_at_sql_editor() { keys.pointed = ImGui::GetFrameCount(); }

bool typing_at_sql_editor(SqlState& state) {
  const ImVector<ImWchar>& letters = ImGui::GetIO().InputQueueCharacters;
  const auto is_letter = [](ImWchar c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!keys.moved || keys.pointed != ImGui::GetFrameCount() - 1 || letters.empty() || !is_letter(letters.front())) return false;
  take_early_letters(state);
  give_keys_to_sql_editor();
  return true;
}

}  // namespace gapscope
