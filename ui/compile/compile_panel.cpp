// The tab "Compile": what torch.compile's code did. Over core/view/compile/compile_model.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/view/compile/compile_model.h"
#include "ui/panels.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/grid.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kNumberChars = 10;
constexpr float kLeastTextChars = 8;
constexpr float kMostTextChars = 30;
constexpr float kCodeShare = 0.5f;  // of the panel's height

constexpr std::array<Choice, kCompileLists.size()> kLists = {{
    {"Pieces", "The pieces of compiled code that ran, with their versions."},
    {"Breaks", "Where one piece ended and Python went on to the next."},
    {"Graphs", "The graphs that Inductor compiled."},
    {"Triton kernels", "The kernels that Inductor generated, with the operators that they fuse."},
    {"Compilations", "What was compiled in this recording."},
}};

struct CompilePanel {
  const Document& document;
  ViewState& view;
  Requests& out;
  const Theme& theme;
  CompileState& state;
};

const char* why_empty(CompileList list) {
  switch (list) {
    case CompileList::breaks: return "No compiled piece broke off into another one.";
    case CompileList::graphs: return "No compiled graph was called.";
    case CompileList::kernels: return "No kernel that Inductor generated ran.";
    case CompileList::compilations: return "Nothing was compiled in this recording.";
    default: return "No compiled piece ran.";
  }
}

// As wide as their text needs; the last column takes the rest.
std::vector<GridColumn> grid_columns(const CompileTable& table) {
  std::vector<GridColumn> columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const CompileColumn& column = table.columns[c];
    float chars = column.is_number ? kNumberChars : kLeastTextChars;
    for (std::size_t r = 0; r < table.rows.size() && !column.is_number; ++r)
      chars = std::max(chars, std::min(kMostTextChars, static_cast<float>(utf8_length(table.rows[r].cells[c].text) + 1)));
    const bool is_last = c + 1 == table.columns.size();
    columns.push_back({column.title, column.help, is_last ? 0 : chars, column.is_number});
  }
  return columns;
}

void choose(CompilePanel& panel, std::size_t at) {
  const CompileRow& row = panel.state.made.table.rows[at];
  panel.state.selected = static_cast<int>(at);
  panel.state.code = read_code(row.code);
  if (!row.slices.empty()) walk_cycle(panel.view, {row.cells[0].text, row.slices});
}

void draw_rows(CompilePanel& panel) {
  const CompileTable& table = panel.state.made.table;
  const std::vector<std::uint32_t>& rows = panel.state.made.rows;
  const std::vector<GridColumn> columns = grid_columns(table);
  Grid grid;
  grid.id = table.title;
  grid.columns = columns;
  grid.rows = rows.size();
  const auto chosen = std::find(rows.begin(), rows.end(), static_cast<std::uint32_t>(panel.state.selected));
  if (panel.state.selected >= 0 && chosen != rows.end()) grid.selected = chosen - rows.begin();
  grid.sorted_by = panel.state.order ? panel.state.order->column : columns.size();
  grid.descending = panel.state.order && panel.state.order->descending;
  grid.cell = [&](std::size_t row, std::size_t column) {
    const std::string text = printable(table.rows[rows[row]].cells[column].text);
    return GridCell{text, text, 0, text == "-"};
  };
  const GridClick click = draw_grid(grid, panel.view);
  if (const std::optional<std::size_t> at = draw_row_menu_for(click, grid.rows)) {
    const CompileRow& row = table.rows[rows[*at]];
    const std::string& name = row.cells[0].text;
    draw_row_menu({name, row.slices.size()}, panel.view, panel.out,
                  [&] { return list_of_slices(panel.document.trace, name, row.slices); });
  }
  if (click.row >= 0) choose(panel, rows[static_cast<std::size_t>(click.row)]);
  if (click.header < 0) return;
  const auto column = static_cast<std::size_t>(click.header);
  RowOrder order = panel.state.order.value_or(RowOrder{columns.size(), false});
  order_by(order, column, columns[column].number);
  panel.state.order = order;
}

// The generated code of the chosen row, where it names some.
void draw_code_text(CompilePanel& panel) {
  const CodeText& code = panel.state.code;
  if (ImGui::SmallButton("Copy path")) panel.out.add(CopyText{code.path});
  ImGui::SameLine();
  draw_text(Face::mono, panel.theme.text, printable(code.path));
  if (!code.trouble.empty()) draw_text(Face::sans, panel.theme.muted, code.trouble, /*wrap=*/true);
  for (std::size_t at = 0; at < code.text.size();) {
    const std::size_t end = std::min(code.text.find('\n', at), code.text.size());
    draw_text(Face::mono, panel.theme.text, printable(code.text.substr(at, end - at)));
    at = end + 1;
  }
}

}  // namespace

void draw_compile(const Document& document, ViewState& view, Requests& out) {
  if (draw_part_note(document, view, "the compiled code follows")) return;
  ask(document, CompileQuestion{}, out);
  if (draw_trouble<CompileQuestion>(document, view)) return;
  const std::shared_ptr<const CompileUse> use = answer_to<CompileQuestion>(document);
  if (!use) return draw_absence(view, "Looking for compiled code...");
  CompilePanel panel{document, view, out, theme_of(view.theme), view.active().compile};
  arrange_compile(document.trace, use, panel.state);
  if (use->empty()) return draw_absence(view, panel.state.made.summary.front());
  std::string summary;
  for (const std::string& sentence : panel.state.made.summary) summary += (summary.empty() ? "" : " ") + sentence;
  draw_text(Face::sans, panel.theme.muted, printable(summary), /*wrap=*/true);
  panel.state.list = static_cast<CompileList>(draw_choice("list", kLists, static_cast<std::size_t>(panel.state.list), view));
  arrange_compile(document.trace, use, panel.state);
  if (!panel.state.made.table.rows.empty()) {
    ImGui::SameLine();
    draw_csv_buttons(
        ".compile.csv", [&] { return compile_csv(panel.state.made.table, panel.state.made.rows); }, out);
  }
  if (panel.state.made.table.rows.empty()) return draw_text(Face::sans, panel.theme.muted, why_empty(panel.state.list));
  const bool has_code = !panel.state.code.path.empty();
  const float room = ImGui::GetContentRegionAvail().y;
  ImGui::BeginChild("rows", {0, has_code ? std::floor(room * kCodeShare) : 0});
  draw_rows(panel);
  ImGui::EndChild();
  if (!has_code) return;
  ImGui::BeginChild("code", {0, 0}, false, ImGuiWindowFlags_HorizontalScrollbar);
  draw_code_text(panel);
  ImGui::EndChild();
}

}  // namespace gapscope
