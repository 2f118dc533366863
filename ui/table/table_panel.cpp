// The tab "Table": PyTorch's profiler table over core/view/table/table_model.h.
#include <algorithm>
#include <array>
#include <vector>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/analyze/operators/flops.h"
#include "core/analyze/overview/missing_words.h"
#include "core/base/demangle.h"
#include "core/base/text.h"
#include "core/view/sql/sql_examples.h"
#include "ui/panels.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/grid.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kFilterWidth = 200;  // px at scale 1

constexpr std::array<Choice, 2> kModes = {{
    {"Corrected", "Each piece of GPU work counts once, under the operator or annotation that launched it."},
    {"Exact", "As key_averages() of PyTorch 2.11 prints it: calls and profiler overheads own kernels too."},
}};

struct TablePanel {
  const Document& document;
  ViewState& view;
  Requests& out;
  const Theme& theme;
  TableState& state;
};

const std::shared_ptr<const TableAnswer>& answer_of(const TablePanel& panel) {
  return answer_to<TableQuestion>(panel.document);
}

// A wish for another answer is passed on once.
void ask_for_rows(TablePanel& panel) {
  panel.state.question.range = panel.view.active().range;
  ask(panel.document, panel.state.question, panel.out);
}

// Explanation between.
void draw_actions(TablePanel& panel) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const float buttons = ImGui::CalcTextSize("As SQLCopy CSVSave CSV").x + style.FramePadding.x * 6 + style.ItemSpacing.x * 2;
  const bool no_gpu = panel.document.trace.gpu.empty();
  const std::string_view line = no_gpu ? no_gpu_work_words(program_kind(panel.document.trace))
                                       : kModes[static_cast<std::size_t>(panel.state.question.mode == TableMode::exact)].help;
  if (ImGui::GetContentRegionAvail().x > buttons + style.ItemSpacing.x * 2 + text_width(Face::sans, line)) {
    draw_text(Face::sans, panel.theme.muted, line);
    ImGui::SameLine();
  }
  const TableState::Arranged& rows = panel.state.arranged;
  if (ImGui::Button("As SQL")) open_as_sql(panel.view, kOperatorsAsSql);
  draw_hover("Show a query of the operators' calls and own times, of the whole trace.");
  ImGui::SameLine();
  draw_csv_buttons(
      ".table.csv",
      [&] {
        return answer_of(panel) ? table_csv(panel.document.trace, answer_of(panel)->table, rows.rows, rows.columns)
                                : std::string();
      },
      panel.out);
}

void draw_toolbar(TablePanel& panel) {
  TableState& state = panel.state;
  ImGui::SetNextItemWidth(kFilterWidth * panel.view.scale);
  text_field("##filter", "filter names", state.filter);
  draw_hover("Show only rows whose name holds this.");
  ImGui::SameLine();
  const std::size_t mode = draw_choice("mode", kModes, state.question.mode == TableMode::exact ? 1 : 0, panel.view);
  state.question.mode = mode == 1 ? TableMode::exact : TableMode::corrected;
  if (panel.document.analysis()->has_shapes()) {
    ImGui::SameLine();
    ImGui::Checkbox("by shapes", &state.question.by_shape);
    draw_hover("Operators of one name with other input shapes become rows of their own.");
  }
  ImGui::SameLine();
  std::array<const char*, static_cast<std::size_t>(TableColumn::count_)> titles{};  // null: not in this table
  for (const TableColumn column : state.arranged.columns) titles[static_cast<std::size_t>(column)] = column_text(column).title;
  draw_columns_menu(titles, state.hidden);
  ImGui::SameLine();
  draw_range_chip(panel.document, panel.view);
  if (panel.view.active().range) ImGui::SameLine();
  draw_actions(panel);
}

GridColumn grid_column(TableColumn column) {
  const TableColumnText text = column_text(column);
  GridColumn out{text.title, text.help};
  if (column == TableColumn::name) return out;
  if (column == TableColumn::shape) out.chars = 28;
  if (column == TableColumn::device) out.chars = 6;
  if (column == TableColumn::calls) out.chars = 8;
  if (is_time(column)) out.chars = 11;
  if (is_memory(column)) out.chars = 14.5f;  // so that its title does not touch the next one
  out.number = column >= TableColumn::calls;
  out.unit_chars = column == TableColumn::calls ? 0 : 2;
  return out;
}

std::string signed_bytes(std::int64_t bytes) {
  const std::string text = format_bytes(static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes));
  return bytes < 0 ? "-" + text : text;
}

float share_of(std::int64_t part, Ns whole) {
  return part > 0 && whole > 0 ? static_cast<float>(static_cast<double>(part) / static_cast<double>(whole)) : 0;
}

GridCell time_cell(const OpTableRow& row, TableColumn column, const OpTable& table) {
  const bool cpu = column <= TableColumn::cpu_avg;
  if (cpu && row.on_gpu) return {"-", "GPU work takes no CPU time of its own.", 0, true};
  const std::int64_t value = column_value(row, column);
  GridCell cell{format_duration(value), format_duration_exact(value), 0, value == 0};
  if (column == TableColumn::self_cpu) cell.share = share_of(value, table.self_cpu_total);
  // Annotations span work that other rows count, so theirs is no share of the sum.
  if (column == TableColumn::self_cuda && !(row.on_gpu && row.annotation)) cell.share = share_of(value, table.self_cuda_total);
  if (cell.share > 0) cell.hover += ", " + format_percent(static_cast<double>(cell.share));
  return cell;
}

GridCell table_cell(const Trace& trace, const OpTable& table, const OpTableRow& row, TableColumn column) {
  if (column == TableColumn::name) {
    const std::string whole = printable(demangle(row.name));
    return {row.on_gpu && !row.annotation ? printable(kernel_title(row.name)) : whole, whole, 0, false};
  }
  if (column == TableColumn::shape) {
    const std::string text = row.input_dims ? shapes_text(trace.strings[row.input_dims]) : "";
    return {text, text, 0, true};
  }
  if (column == TableColumn::device) return {row.on_gpu ? "CUDA" : "CPU", row.annotation ? "An annotation." : "", 0, true};
  const std::int64_t value = column_value(row, column);
  if (column == TableColumn::calls) return {format_count(value), "", 0, false};
  if (is_memory(column) && row.on_gpu) return {"-", "Memory is counted for operators, not for GPU work.", 0, true};
  if (is_memory(column)) return {signed_bytes(value), format_count(value) + " bytes", 0, value == 0};
  return time_cell(row, column, table);
}

// Only what adds up: totals and averages of nested rows do not.
GridCell total_cell(const TableState& state, TableColumn column) {
  const OpTableRow& total = state.arranged.total;
  switch (column) {
    case TableColumn::name: {
      const auto shown = static_cast<std::int64_t>(state.arranged.rows.size());
      const auto all = static_cast<std::int64_t>(state.arranged.of->table.rows.size());
      return {shown == all ? format_count(all) + " rows" : format_count(shown) + " of " + format_count(all) + " rows", "", 0,
              true};
    }
    case TableColumn::calls: return {format_count(column_value(total, column)), "", 0, false};
    case TableColumn::self_cpu:
    case TableColumn::self_cuda: return {format_duration(column_value(total, column)), "", 0, false};
    case TableColumn::self_cpu_memory:
    case TableColumn::self_cuda_memory: return {signed_bytes(column_value(total, column)), "", 0, false};
    default: return {};
  }
}

void sort_by(TableState& state, TableColumn column) {
  if (state.order.column == column) {
    state.order.descending = !state.order.descending;
  } else {
    state.order = {column, column >= TableColumn::calls};  // numbers: largest first; words: from A to Z
  }
}

void select_row(TablePanel& panel, std::uint32_t row) {
  const TableAnswer& answer = *answer_of(panel);
  const OpTableRow& of = answer.table.rows[row];
  panel.state.selected = row;
  const OpEvents& events = panel.document.analysis()->op_events(answer.question.mode);
  walk_cycle(panel.view, {of.name, slices_of_row(panel.document.trace, events, answer.question, of)});
}

void draw_rows(TablePanel& panel) {
  TableState& state = panel.state;
  const std::shared_ptr<const TableAnswer> answer = answer_of(panel);
  const TableState::Arranged& shown = state.arranged;
  const OpTable& table = answer->table;
  std::vector<TableColumn> seen;
  std::vector<GridColumn> columns;
  for (const TableColumn column : shown.columns) {
    if (column != TableColumn::name && (state.hidden & column_bit(column)) != 0) continue;
    seen.push_back(column);
    columns.push_back(grid_column(column));
  }
  Grid grid;
  grid.id = "table";
  grid.columns = columns;
  grid.rows = shown.rows.size();
  const auto selected = std::find(shown.rows.begin(), shown.rows.end(), state.selected);
  if (selected != shown.rows.end()) grid.selected = selected - shown.rows.begin();
  grid.sorted_by = static_cast<std::size_t>(std::find(seen.begin(), seen.end(), state.order.column) - seen.begin());
  grid.descending = state.order.descending;
  grid.cell = [&](std::size_t row, std::size_t column) {
    return table_cell(panel.document.trace, table, table.rows[shown.rows[row]], seen[column]);
  };
  grid.total = [&](std::size_t column) { return total_cell(state, seen[column]); };
  const GridClick click = draw_grid(grid, panel.view);
  if (click.row >= 0) select_row(panel, shown.rows[static_cast<std::size_t>(click.row)]);
  if (const std::optional<std::size_t> row = draw_row_menu_for(click, grid.rows)) {
    const OpTableRow& of = table.rows[shown.rows[*row]];
    draw_row_menu({of.name, static_cast<std::uint64_t>(of.count)}, panel.view, panel.out, [&] {
      return list_of_slices(panel.document.trace, of.name,
                            slices_of_row(panel.document.trace, panel.document.analysis()->op_events(answer->question.mode),
                                          answer->question, of));
    });
  }
  if (click.header >= 0) sort_by(state, seen[static_cast<std::size_t>(click.header)]);
}

}  // namespace

void draw_table(const Document& document, ViewState& view, Requests& out) {
  if (!document.analysis()) return draw_working(document, view, "the table", out);
  TablePanel panel{document, view, out, theme_of(view.theme), view.active().table};
  draw_toolbar(panel);
  ask_for_rows(panel);
  if (draw_trouble<TableQuestion>(document, view)) return;
  if (!answer_of(panel)) return draw_absence(view, "Working out the table...");
  arrange_table(document.trace, answer_of(panel), view.active().table);
  if (answer_of(panel)->table.rows.empty())
    return draw_absence(view, answer_of(panel)->question.range ? "No operator, call or GPU work begins in this range."
                                                               : "No operator, call or GPU work in this trace: record with "
                                                                 "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA].");
  draw_rows(panel);
}

}  // namespace gapscope
