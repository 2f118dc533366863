// The help: every command with its key, made from the command table, what the mouse does, and the pages of the guide.
#include <imgui.h>

#include <algorithm>
#include <map>
#include <span>

#include "core/base/text.h"
#include "core/diagnose/guide.h"
#include "ui/app_ui.h"
#include "ui/commands.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kWidthPx = 1060, kHeightPx = 780;  // at scale 1
constexpr float kListPx = 180;
constexpr float kKeysPx = 150;
constexpr float kTitlePx = 180;

using BlockKind = GuideBlock::Kind;

// The pages are part of the program: each is read once.
const std::vector<GuideBlock>& blocks_of(const GuidePage& page) {
  static std::map<std::string_view, std::vector<GuideBlock>> read;
  const auto [at, is_new] = read.try_emplace(page.name);
  if (is_new) at->second = guide_blocks(page.text);
  return at->second;
}

// Columns are as wide as their longest text, within limits: of long texts as wide as what the others leave.
void set_up_columns(std::span<const GuideBlock> rows, std::size_t columns) {
  constexpr std::size_t kLeast = 6, kMost = 70;
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t longest = kLeast;
    for (const GuideBlock& row : rows)
      if (c < row.cells.size()) longest = std::max(longest, utf8_length(row.cells[c]));
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, static_cast<float>(std::min(longest, kMost)));
  }
}

void draw_table(std::span<const GuideBlock> rows, const Theme& theme) {
  const std::size_t columns = rows.front().cells.size();
  if (columns == 0) return;
  ImGui::PushID(rows.data());
  if (ImGui::BeginTable("table", static_cast<int>(columns), ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_BordersInnerH)) {
    set_up_columns(rows, columns);
    for (const GuideBlock& row : rows) {
      ImGui::TableNextRow();
      for (std::size_t c = 0; c < std::min(columns, row.cells.size()); ++c) {
        ImGui::TableNextColumn();
        draw_text(&row == rows.data() ? Face::bold : Face::sans, c == 0 ? theme.text : theme.muted, row.cells[c],
                  /*wrap=*/true);
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopID();
}

void draw_block(const GuideBlock& block, const Theme& theme, float scale) {
  const std::string& text = block.cells[0];
  switch (block.kind) {
    case BlockKind::heading:
      ImGui::Dummy({0, (block.level > 1 ? 8 : 0) * scale});
      draw_text(Face::bold, block.level > 2 ? theme.text : theme.accent, text, /*wrap=*/true);
      break;
    case BlockKind::item:
      ImGui::Bullet();
      draw_text(Face::sans, theme.text, text, /*wrap=*/true);
      break;
    case BlockKind::code:
      ImGui::Indent(12 * scale);
      draw_text(Face::mono, theme.text, text);
      ImGui::Unindent(12 * scale);
      break;
    default: draw_text(Face::sans, theme.text, text, /*wrap=*/true); break;
  }
  ImGui::Spacing();
}

// A page of the guide, scrolled by itself, in what is left of the window.
void draw_guide_page(const GuidePage& page, const Theme& theme, float scale) {
  ImGui::PushID(page.name.data(), page.name.data() + page.name.size());  // each page has a place of its own
  ImGui::BeginChild("page", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar);
  const std::vector<GuideBlock>& blocks = blocks_of(page);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::size_t end = i;
    while (end < blocks.size() && blocks[end].kind == BlockKind::row) ++end;
    if (end == i) {
      draw_block(blocks[i], theme, scale);
    } else {
      draw_table(std::span(blocks).subspan(i, end - i), theme);
      i = end - 1;
    }
  }
  ImGui::EndChild();
  ImGui::PopID();
}

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
  draw_text(Face::mono, theme.accent, keys, /*wrap=*/true);
  ImGui::TableNextColumn();
  draw_text(Face::sans, theme.text, title, /*wrap=*/true);
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
