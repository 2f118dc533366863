// The tab "Overview": how the run is, before anything is asked. Over core/view/overview/overview_page.h.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/view/distinct_names.h"
#include "core/view/overview/overview_model.h"
#include "ui/panels.h"
#include "ui/widgets/account_bar.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kLeastColumn = 430;  // px at scale 1
constexpr std::size_t kMostColumns = 4;
constexpr std::size_t kAccountParts = 16;

struct OverviewTab {
  const Document& document;
  ViewState& view;
  Requests& out;
  const Theme& theme;
};

// How many letters of a mono face fit between here and the end of the column.
std::size_t letters_here() {
  return static_cast<std::size_t>(
      std::max(4.0f, ImGui::GetContentRegionAvail().x / std::max(1.0f, text_width(Face::mono, "m"))));
}

void draw_cut(Face face, Rgb rgb, const std::string& whole, const std::string& shown) {
  draw_text(face, rgb, shown);
  if (shown != whole) draw_hover(whole);
}

void draw_lines(const OverviewTab& tab, const PageSection& section) {
  if (section.lines.empty()) return;
  if (section.reads_as_text) {
    for (const PageLine& line : section.lines) {
      draw_text(Face::sans, tab.theme.text, printable(line.label), /*wrap=*/true);
      draw_text(Face::sans, tab.theme.muted, printable(line.value), /*wrap=*/true);
    }
    return;
  }
  if (!ImGui::BeginTable("lines", 2, ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingStretchProp)) return;
  ImGui::TableSetupColumn("label", ImGuiTableColumnFlags_WidthStretch, 0.42f);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 0.58f);
  for (const PageLine& line : section.lines) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    draw_text(Face::sans, tab.theme.muted, printable(line.label), /*wrap=*/true);
    ImGui::TableNextColumn();
    draw_text(Face::sans, tab.theme.text, printable(line.value), /*wrap=*/true);
  }
  ImGui::EndTable();
}

void draw_table_cells(const OverviewTab& tab, const PageTable& table) {
  if (table.rows.empty()) return;
  const auto columns = static_cast<int>(table.head.size());
  if (!ImGui::BeginTable("cells", columns, ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingFixedFit)) return;
  for (std::size_t c = 0; c < table.head.size(); ++c) {
    float wide = text_width(Face::sans, table.head[c]);
    for (const auto& row : table.rows) wide = std::max(wide, text_width(Face::mono, printable(row[c])));
    const bool stretches = c == 0;
    ImGui::TableSetupColumn(table.head[c].c_str(),
                            stretches ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed,
                            stretches ? 1 : wide + 2);
  }
  std::vector<std::string> names, cut;  // of the first column; cut to its width
  for (const auto& row : table.rows) names.push_back(printable(row.front()));
  for (const std::string& title : table.head) {
    const bool words = ImGui::TableNextColumn() && static_cast<std::size_t>(ImGui::TableGetColumnIndex()) < table.text_columns;
    if (words)
      draw_text(Face::sans, tab.theme.muted, title);
    else
      draw_text_right(Face::sans, tab.theme.muted, title);
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    ImGui::TableNextColumn();
    if (cut.empty()) cut = distinct_names(names, letters_here());
    draw_cut(Face::mono, tab.theme.text, names[i], cut[i]);
    for (std::size_t c = 1; c < table.rows[i].size(); ++c) {
      ImGui::TableNextColumn();
      const std::string cell = printable(table.rows[i][c]);
      if (c < table.text_columns)
        draw_text(Face::mono, tab.theme.text, cell);
      else
        draw_text_right(Face::mono, tab.theme.text, cell);
    }
  }
  ImGui::EndTable();
}

void draw_code(const OverviewTab& tab, const std::vector<std::string>& code) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::SmallButton("Copy")) tab.out.add(CopyText{code[i]});
    ImGui::SameLine();
    const std::string whole = printable(code[i]);
    draw_cut(Face::mono, tab.theme.text, whole, elide_middle(whole, letters_here()));
    ImGui::PopID();
  }
}

void draw_section(const OverviewTab& tab, const PageSection& section) {
  ImGui::PushID(section.title.c_str());
  draw_text(Face::bold, tab.theme.text, section.title);
  if (!section.bars.empty()) draw_account(tab.document, tab.view, kAccountParts);
  for (std::size_t i = 1; i < section.bars.size(); ++i)
    draw_text(Face::sans, tab.theme.muted, printable(section.bars[i].title) + ": " + largest_part_words(section.bars[i]),
              /*wrap=*/true);
  draw_lines(tab, section);
  draw_table_cells(tab, section.table);
  for (const std::string& note : section.notes) draw_text(Face::sans, tab.theme.muted, printable(note), /*wrap=*/true);
  draw_code(tab, section.code);
  ImGui::Spacing();
  ImGui::PopID();
}

// Account and findings stand in the panel at the right already where that is open.
std::vector<PageSection> sections_beside(const OverviewPage& page, bool findings_open) {
  std::vector<PageSection> sections = page.sections;
  if (findings_open)
    std::erase_if(sections, [](const PageSection& section) { return section.key == "account" || section.key == "findings"; });
  return sections;
}

void draw_sections(const OverviewTab& tab, const std::vector<PageSection>& sections) {
  const float width = ImGui::GetContentRegionAvail().x;
  const auto columns =
      std::clamp<std::size_t>(static_cast<std::size_t>(width / (kLeastColumn * tab.view.scale)), 1, kMostColumns);
  const std::vector<std::size_t> column_of = columns_of(sections, columns);
  if (!ImGui::BeginTable("sections", static_cast<int>(columns),
                         ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingStretchSame | ImGuiTableFlags_PadOuterX))
    return;
  ImGui::TableNextRow();
  for (std::size_t c = 0; c < columns; ++c) {
    ImGui::TableNextColumn();
    for (std::size_t i = 0; i < sections.size(); ++i)
      if (column_of[i] == c) draw_section(tab, sections[i]);
  }
  ImGui::EndTable();
}

}  // namespace

void draw_overview(const Document& document, ViewState& view, Requests& out) {
  if (draw_part_note(document, view, "the overview follows")) return;
  if (!document.diagnosis()) return draw_working(document, view, "the overview", out);
  ask(document, OverviewQuestion{}, out);
  if (draw_trouble<OverviewQuestion>(document, view)) return;
  const std::shared_ptr<const OverviewPage> page = answer_to<OverviewQuestion>(document);
  if (!page) return draw_absence(view, "Putting the overview together...");
  const OverviewTab tab{document, view, out, theme_of(view.theme)};
  draw_text(Face::bold, tab.theme.text, printable(page->verdict), /*wrap=*/true);
  if (!page->trust.empty()) draw_text(Face::sans, tab.theme.notable, printable(page->trust), /*wrap=*/true);
  ImGui::Spacing();
  ImGui::BeginChild("page");
  draw_sections(tab, sections_beside(*page, view.findings.open));
  ImGui::EndChild();
}

}  // namespace gapscope
