// The page "Editor and sources": with what a line of source is opened, and where recorded folders lie on this machine.
#include <algorithm>
#include <array>
#include <sstream>

#include "ui/app_ui.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

struct KnownEditor {
  Choice choice;
  const char* command;
};
constexpr auto kEditors = std::to_array<KnownEditor>({
    {{"VS Code", "code -g FILE:LINE"}, "code -g"},
    {{"PyCharm", "pycharm --line LINE FILE"}, "pycharm --line {line} {file}"},
    {{"$EDITOR", "The editor of $VISUAL or $EDITOR, in a terminal."}, "$EDITOR"},
    {{"Another", "Your own command."}, ""},
});

constexpr float kWidth = 560;  // px at scale 1
constexpr float kPathLines = 4;

std::size_t chosen_of(const std::string& command) {
  const auto found = std::find_if(kEditors.begin(), kEditors.end(), [&](const KnownEditor& e) { return command == e.command; });
  return static_cast<std::size_t>(std::min(found, kEditors.end() - 1) - kEditors.begin());
}

EditorSettings settings_of(const EditorPage& page) {
  EditorSettings out{page.command, {}};
  std::istringstream lines(page.paths);
  for (std::string line; std::getline(lines, line);)
    if (line.find('=') != line.npos) out.paths.push_back(line);
  return out;
}

}  // namespace

void show_editor_page(EditorPage& page, const EditorSettings& now) {
  page = {true, now.command.empty() ? kEditors.front().command : now.command, {}};
  for (const std::string& path : now.paths) page.paths += path + '\n';
}

void draw_editor_page(EditorPage& page, const WindowState& window, Requests& out) {
  if (!page.open) return;
  const Theme& theme = theme_of(window);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Appearing, {0.5f, 0.5f});
  ImGui::SetNextWindowSize({std::min(display.x, kWidth * window.frame.scale), 0}, ImGuiCond_Appearing);
  const EditorSettings before = settings_of(page);
  if (ImGui::Begin("Editor and sources###editor", &page.open, ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings)) {
    draw_text(Face::bold, theme.text, "Open a line of source with");
    std::array<Choice, kEditors.size()> choices{};
    std::transform(kEditors.begin(), kEditors.end(), choices.begin(), [](const KnownEditor& e) { return e.choice; });
    const std::size_t was = chosen_of(page.command), now = draw_choice("editors", choices, was, window);
    if (now != was) page.command = kEditors[now].command;
    ImGui::SetNextItemWidth(-1);
    text_field("##command", "subl {file}:{line}", page.command);
    draw_hover("{file} and {line} are replaced. Without them FILE:LINE is appended.");
    ImGui::Spacing();
    draw_text(Face::bold, theme.text, "Where recorded folders are on this machine");
    text_lines("##paths", page.paths, {-1, ImGui::GetTextLineHeight() * kPathLines + 2 * ImGui::GetStyle().FramePadding.y});
    draw_text(Face::sans, theme.muted,
              "One per line, recorded=here: /workspace=/home/me/project. Leave out the part before = for paths relative to the "
              "program's folder.",
              /*wrap=*/true);
  }
  ImGui::End();
  if (EditorSettings after = settings_of(page); after != before) out.add(KeepEditor{std::move(after)});
}

}  // namespace gapscope
