// The help: every command with its key, made from the command table, what the mouse does, and the pages of the guide.
#include "core/base/text.h"
#include "core/diagnose/guide.h"
#include "ui/app_ui.h"
#include "ui/commands.h"
#include "ui/start/guide_reader.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kWidthPx = 1060, kHeightPx = 780;  // at scale 1
constexpr float kListPx = 180;
constexpr float kKeysPx = 150;
constexpr float kTitlePx = 180;

bool begin_rows(const char* id, float scale) {
  if (!ImGui::BeginTable(id, 3, ImGuiTableFlags_NoSavedSettings)) return false;
  ImGui::TableSetupColumn("keys", ImGuiTableColumnFlags_WidthFixed, kKeysPx * scale);
  ImGui::TableSetupColumn("title", ImGuiTableColumnFlags_WidthFixed, kTitlePx * scale);
  ImGui::TableSetupColumn("help", ImGuiTableColumnFlags_WidthStretch);
  return true;
}

void draw_row(const Theme& theme, std::string_view keys, std::string_view title, std::string_view help) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  draw_text(Face::mono, theme.accent, keys);
  ImGui::TableNextColumn();
  draw_text(Face::sans, theme.text, title);
  ImGui::TableNextColumn();
  draw_text(Face::sans, theme.muted, help, /*wrap=*/true);
}

bool wanted(const WindowState& window, std::string_view keys, std::string_view title, std::string_view help) {
  const std::string& filter = window.help_filter;
  return filter.empty() || contains_ignore_case(keys, filter) || contains_ignore_case(title, filter) ||
         contains_ignore_case(help, filter);
}

void draw_menu_rows(const WindowState& window, Menu menu) {
  const Theme& theme = theme_of(window);
  bool any = false;
  for (const Command& command : commands()) {
    const std::string keys = chords_text(command);
    if (command.menu != menu || !wanted(window, keys, command.title, command.help)) continue;
    if (!any) {
      ImGui::Spacing();
      draw_text(Face::bold, theme.text, menu_title(menu));
      any = begin_rows(menu_title(menu), window.frame.scale);
    }
    if (any) draw_row(theme, keys, command.title, command.help);
  }
  if (any) ImGui::EndTable();
}

void draw_mouse_rows(const WindowState& window) {
  const Theme& theme = theme_of(window);
  ImGui::Spacing();
  draw_text(Face::bold, theme.text, "Mouse");
  if (!begin_rows("mouse", window.frame.scale)) return;
  for (const MouseHelp& row : mouse_help())
    if (wanted(window, row.gesture, "", row.help)) draw_row(theme, row.gesture, "", row.help);
  ImGui::EndTable();
}

void draw_keys(WindowState& window) {
  ImGui::SetNextItemWidth(-1);
  text_field("##filter", "filter: a key or a word", window.help_filter);
  ImGui::BeginChild("rows");
  for (const Menu menu : kMenus) draw_menu_rows(window, menu);
  draw_mouse_rows(window);
  ImGui::EndChild();
}

void draw_list(WindowState& window) {
  ImGui::BeginChild("pages", {kListPx * window.frame.scale, 0});
  if (ImGui::Selectable("Keys and mouse", window.help_page.empty())) window.help_page.clear();
  for (const GuidePage& page : guide_pages()) {
    ImGui::PushID(page.name.data(), page.name.data() + page.name.size());
    if (ImGui::Selectable(std::string(page.title).c_str(), window.help_page == page.name)) window.help_page = page.name;
    ImGui::PopID();
  }
  ImGui::EndChild();
}

}  // namespace

void draw_help_page(WindowState& window) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Appearing, {0.5f, 0.5f});
  ImGui::SetNextWindowSize(
      {std::min(display.x, kWidthPx * window.frame.scale), std::min(display.y, kHeightPx * window.frame.scale)},
      ImGuiCond_Appearing);
  if (ImGui::Begin("Help###help", &window.help_open, ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings)) {
    draw_list(window);
    ImGui::SameLine();
    ImGui::BeginGroup();
    if (const GuidePage* page = guide_page(window.help_page))
      draw_guide_page(*page, theme_of(window), window.frame.scale);
    else
      draw_keys(window);
    ImGui::EndGroup();
  }
  ImGui::End();
}

}  // namespace gapscope
