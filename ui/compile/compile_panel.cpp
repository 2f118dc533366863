// The tab "Compile": what torch.compile's code did. Over core/view/compile/compile_model.h.
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/view/compile/compile_model.h"
#include "core/view/document.h"
#include "ui/panels.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kCodeShare = 0.5f;  // of the panel's height

constexpr std::array<Choice, kCompileLists.size()> kLists = {{
    {"Functions", "Compiled functions that ran, with their versions."},
    {"Breaks", "Places where a compiled function ended and Python ran until the next one."},
    {"Graphs", "Graphs that Inductor compiled."},
    {"Triton kernels", "Kernels that Inductor generated, with the operators that they fuse."},
    {"Compilations", "Compilations during this recording."},
}};

struct CompilePanel : PanelOf<CompileState> {
  const CompileUse& use;
};

const char* why_empty(CompileList list) {
  switch (list) {
    case CompileList::breaks: return "No graph breaks.";
    case CompileList::graphs: return "No compiled graph was called.";
    case CompileList::kernels: return "No generated kernel of Inductor ran.";
    case CompileList::compilations: return "Nothing was compiled in this recording.";
    default: return "No compiled function ran.";
  }
}

CodeText code_of(const CompilePanel& panel, const std::string& path) {
  return read_code(path, panel.window.settings.source_paths, panel.window.settings.asks_for_sources);
}

void draw_rows(CompilePanel& panel, const TableRows& table) {
  const Trace& trace = panel.document.trace;
  const std::vector<std::uint32_t>& rows = panel.state.arranged.rows;
  const auto thing = [&](std::size_t at) { return thing_of_row(trace, panel.use, panel.state.list, rows[at]); };
  ColumnGrid grid{compile_title(panel.state.list), table, rows, panel.state.look};
  if (panel.state.selected >= 0) grid.selected = static_cast<std::uint32_t>(panel.state.selected);
  const GridClick click = draw_column_grid(grid, panel.window);
  if (const std::optional<std::size_t> at = draw_row_menu_for(click, rows.size())) {
    const auto [name, slices, code] = thing(*at);
    draw_row_menu({name, slices.size()}, panel.document, panel.view, panel.window, panel.out,
                  [&, of = &name, all = &slices] { return list_of_slices(trace, *of, *all); });
  }
  if (click.row < 0) return;
  CompiledThing chosen = thing(static_cast<std::size_t>(click.row));
  panel.state.selected = static_cast<int>(rows[static_cast<std::size_t>(click.row)]);
  panel.state.code = code_of(panel, chosen.code);
  if (!chosen.slices.empty()) walk_cycle(panel.view, {chosen.name, std::move(chosen.slices)});
}

// The generated code of the chosen row, where it names some.
void draw_code_text(CompilePanel& panel) {
  if (panel.state.code.paths != panel.window.settings.source_paths) panel.state.code = code_of(panel, panel.state.code.path);
  const CodeText& code = panel.state.code;
  if (ImGui::SmallButton("Copy path")) panel.out.add(CopyText{code.path});
  ImGui::SameLine();
  draw_text(Face::mono, panel.theme.text, printable(code.path));
  if (!code.trouble.empty()) draw_text(Face::sans, panel.theme.muted, code.trouble, /*wrap=*/true);
  if (!code.to_allow.empty()) draw_allow_sources(code.to_allow, panel.out);
  for (std::size_t at = 0; at < code.text.size();) {
    const std::size_t end = std::min(code.text.find('\n', at), code.text.size());
    draw_text(Face::mono, panel.theme.text, printable(code.text.substr(at, end - at)));
    at = end + 1;
  }
}

// A replayed graph's kernels stand alone: no compiled function that called them is in the recording.
CompileList first_with_rows(const Trace& trace, const CompileUse& use) {
  for (const CompileList list : kCompileLists)
    if (compile_table(trace, use, list)->rows() > 0) return list;
  return CompileList::regions;
}

}  // namespace

void draw_compile(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "the compiled code follows")) return;
  ask(document, CompileQuestion{}, out);
  if (draw_trouble<CompileQuestion>(document, window)) return;
  const std::shared_ptr<const CompileUse> use = answer_to<CompileQuestion>(document);
  if (!use) return draw_absence(window, "Looking for compiled code...");
  CompilePanel panel{{document, view, window, out, view.compile}, *use};
  const bool at_first = panel.state.summary.empty();
  arrange_compile(document.trace, use, panel.state);
  if (at_first) panel.state.list = first_with_rows(document.trace, *use);
  if (use->empty()) return draw_absence(window, panel.state.summary.front());
  draw_whole_note(view, window);
  std::string summary;
  for (const std::string& sentence : panel.state.summary) summary += (summary.empty() ? "" : " ") + sentence;
  draw_text(Face::sans, panel.theme.muted, printable(summary), /*wrap=*/true);
  panel.state.list = static_cast<CompileList>(draw_choice("list", kLists, static_cast<std::size_t>(panel.state.list), window));
  arrange_compile(document.trace, use, panel.state);
  const std::unique_ptr<TableRows> table = compile_table(document.trace, *use, panel.state.list);
  if (table->rows() == 0) return draw_text(Face::sans, panel.theme.muted, why_empty(panel.state.list));
  ImGui::SameLine();
  draw_csv_buttons(
      ".compile.csv", [&] { return csv_of(*table, panel.state.arranged.rows); }, out);
  const bool has_code = !panel.state.code.path.empty();
  const float room = ImGui::GetContentRegionAvail().y;
  ImGui::BeginChild("rows", {0, has_code ? std::floor(room * kCodeShare) : 0});
  draw_rows(panel, *table);
  ImGui::EndChild();
  if (!has_code) return;
  ImGui::BeginChild("code", {0, 0}, false, ImGuiWindowFlags_HorizontalScrollbar);
  draw_code_text(panel);
  ImGui::EndChild();
}

}  // namespace gapscope
