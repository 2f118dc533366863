#include "ui/start/guide_reader.h"

#include <imgui.h>

#include <algorithm>
#include <map>
#include <span>

#include "core/base/text.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

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

}  // namespace

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

}  // namespace gapscope
