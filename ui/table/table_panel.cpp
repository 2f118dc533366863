// The tab "Table": PyTorch's profiler table over core/view/table/table_model.h.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/view/document.h"
#include "core/view/sql/sql_examples.h"
#include "ui/panels.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kFilterWidth = 200;  // px at scale 1

constexpr std::array<Choice, 2> kModes = {{
    {"Corrected", "Each GPU operation counts once, under the operator or annotation that launched it."},
    {"Exact", "As key_averages() of PyTorch 2.11 prints it: calls and profiler overheads own kernels too."},
}};

using TablePanel = PanelOf<TableState>;

const std::shared_ptr<const TableAnswer>& answer_of(const TablePanel& panel) {
  return answer_to<TableQuestion>(panel.document);
}

// A wish for another answer is passed on once.
void ask_for_rows(TablePanel& panel) {
  panel.state.question.range = panel.view.range;
  ask(panel.document, panel.state.question, panel.out);
}

// Explanation between.
void draw_actions(TablePanel& panel) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const float buttons = ImGui::CalcTextSize("As SQLCopy CSVSave CSV").x + style.FramePadding.x * 6 + style.ItemSpacing.x * 2;
  const bool no_gpu = panel.document.trace.gpu.empty();
  const std::string replayed = replayed_words(panel.document.trace);
  const std::string_view line = no_gpu ? panel.document.trace.producer->no_gpu_work
                                : !replayed.empty()
                                    ? std::string_view(replayed)
                                    : kModes[static_cast<std::size_t>(panel.state.question.mode == TableMode::exact)].help;
  if (ImGui::GetContentRegionAvail().x > buttons + style.ItemSpacing.x * 2 + text_width(Face::sans, line)) {
    draw_text(Face::sans, panel.theme.muted, line);
    ImGui::SameLine();
  }
  if (ImGui::Button("As SQL")) open_as_sql(panel.window, kOperatorsAsSql);
  draw_hover("Show a query of the operators' calls and own times, of the whole trace.");
  ImGui::SameLine();
  draw_csv_buttons(
      ".table.csv",
      [&] {
        if (!answer_of(panel)) return std::string();
        arrange_table(panel.document.trace, answer_of(panel), panel.state);  // it may have come with this frame
        return csv_of(rows_of(panel.document.trace, *answer_of(panel)), panel.state.arranged.rows, CsvHeads::titles_with_units);
      },
      panel.out);
}

void draw_toolbar(TablePanel& panel) {
  TableState& state = panel.state;
  ImGui::SetNextItemWidth(kFilterWidth * panel.window.frame.scale);
  text_field("##filter", "filter names", state.look.filter);
  draw_hover("Show only rows whose name contains this.");
  ImGui::SameLine();
  const std::size_t mode = draw_choice("mode", kModes, state.question.mode == TableMode::exact ? 1 : 0, panel.window);
  state.question.mode = mode == 1 ? TableMode::exact : TableMode::corrected;
  if (panel.document.analysis()->has_shapes()) {
    ImGui::SameLine();
    draw_checkbox("by shapes", &state.question.by_shape);
    draw_hover("One row per operator and input shapes.");
  }
  if (answer_of(panel)) {
    ImGui::SameLine();
    draw_columns_menu(rows_of(panel.document.trace, *answer_of(panel)), state.look, panel.window);
  }
  ImGui::SameLine();
  draw_range_chip(panel.document, panel.view, panel.window);
  if (panel.view.range) ImGui::SameLine();
  draw_actions(panel);
}

void select_row(TablePanel& panel, std::uint32_t row) {
  const TableAnswer& answer = *answer_of(panel);
  const OpTableRow& of = answer.table.rows[row];
  panel.state.selected = row;
  const OpEvents& events = panel.document.analysis()->op_events(answer.question.mode);
  walk_cycle(panel.view, {of.name, slices_of_row(panel.document.trace, events, answer.question, of)});
}

void draw_rows(TablePanel& panel) {
  const std::shared_ptr<const TableAnswer> answer = answer_of(panel);
  const Trace& trace = panel.document.trace;
  const std::vector<std::uint32_t>& rows = panel.state.arranged.rows;
  const OpTableRows table = rows_of(trace, *answer);
  ColumnGrid grid{"table", table, rows, panel.state.look};
  grid.noun = "rows";
  grid.total = [&](std::size_t column, GridCell& cell) {
    if (std::string_view(table.head(column).id) == "self_cuda") cell.text = format_duration(self_cuda_of(answer->table, rows));
  };
  if (panel.state.selected >= 0) grid.selected = static_cast<std::uint32_t>(panel.state.selected);
  const GridClick click = draw_column_grid(grid, panel.window);
  if (click.row >= 0) select_row(panel, rows[static_cast<std::size_t>(click.row)]);
  if (const std::optional<std::size_t> row = draw_row_menu_for(click, rows.size())) {
    const OpTableRow& of = answer->table.rows[rows[*row]];
    draw_row_menu({of.name, static_cast<std::uint64_t>(of.count)}, panel.document, panel.view, panel.window, panel.out, [&] {
      const OpEvents& events = panel.document.analysis()->op_events(answer->question.mode);
      return list_of_slices(trace, of.name, slices_of_row(trace, events, answer->question, of));
    });
  }
}

}  // namespace

void draw_table(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (!document.analysis()) return draw_working(document, window, "the table", out);
  TablePanel panel{document, view, window, out, view.table};
  draw_toolbar(panel);
  ask_for_rows(panel);
  if (draw_trouble<TableQuestion>(document, window)) return;
  if (!answer_of(panel)) return draw_absence(window, "Computing the table...");
  arrange_table(document.trace, answer_of(panel), view.table);
  if (answer_of(panel)->table.rows.empty())
    return draw_absence(window, answer_of(panel)->question.range ? "No operator, call or GPU work begins in this range."
                                                                 : "No operator, call or GPU work in this trace: record with "
                                                                   "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA].");
  draw_rows(panel);
}

}  // namespace gapscope
