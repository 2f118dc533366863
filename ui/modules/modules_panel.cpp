// The tab "Modules": where the time goes by nn.Module. Over core/view/modules/modules_model.h.
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/view/modules/modules_model.h"
#include "core/view/modules/modules_words.h"
#include "ui/panels.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/grid.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kFilterWidth = 240;
constexpr std::uint32_t kMostIndent = 16;  // levels

constexpr std::array<Choice, 3> kLists = {{
    {"Tree", "Every module under those that called it."},
    {"By instance", "Linear_3 is a row, wherever it was called from."},
    {"By class", "All Linear together."},
}};

constexpr std::array<GridColumn, 12> kColumns = {{
    {"Name", "The module or region.", 0},
    {"Calls", "How often it was entered.", 8, true, false, 0},
    {"Host", "How long the CPU was in it; calls of itself in itself count once.", 10, true, false, 2, 1},
    {"GPU forward", "The GPU work that was launched in it, recomputed activations too.", 13, true},
    {"GPU backward", "The GPU work of its operators' backward.", 14, true},
    {"Self fwd.", "Where it is the innermost module.", 10, true, false, 2, 4},
    {"Self bwd.", "Likewise of backward.", 10, true, false, 2, 5},
    {"Share", "Of all linked GPU work.", 8, true, false, 1},
    {"Kernels", "Among that work.", 9, true, false, 0, 3},
    {"TFLOP/s", "Of the operators in it whose shapes are recorded and whose work is known, while their kernels ran.", 9, true,
     false, 0},
    {"Allocated", "GPU memory asked for in it, forward and backward; freed or not.", 10, true, false, 2, 2},
    {"At peak", "Of that, what was still in use when the GPU held most.", 10, true, false, 2, 6},
}};

// Without those of memory where none is recorded, or no record says what was in use.
std::span<const GridColumn> columns_of(const ModuleUse& use) {
  return std::span(kColumns).first(kColumns.size() - (use.memory.allocations == 0 ? 2 : use.memory.knows_peak ? 0 : 1));
}

struct ModulesPanel {
  const Document& document;
  ViewState& view;
  Requests& out;
  const Theme& theme;
  ModulesState& state;
  const ModuleUse& use;
};

GridCell module_cell(const ModulesPanel& panel, std::uint32_t row, ModuleColumn column) {
  const ModuleTotals& totals = totals_of(panel.use, panel.state.list, row);
  const std::int64_t value = column_value(totals, column);
  switch (column) {
    case ModuleColumn::name: {
      const std::string name = printable(name_of(panel.use, panel.state.list, row));
      const auto indent = std::min(depth_of(panel.use, panel.state.list, row), kMostIndent);
      return {std::string(2 * std::size_t{indent}, ' ') + name, name, 0, false};
    }
    case ModuleColumn::calls:
    case ModuleColumn::kernels: return {format_count(value), "", 0, value == 0};
    case ModuleColumn::share: {
      const double share = panel.use.linked > 0 ? static_cast<double>(totals.gpu()) / static_cast<double>(panel.use.linked) : 0;
      return {format_percent(share), "", static_cast<float>(share), false};
    }
    case ModuleColumn::rate:
      return {value > 0 ? fmt::format("{:.1f}", static_cast<double>(value) / 1e12) : "-",
              fmt::format("{} of GPU work, {:.4g} operations", format_duration(totals.flops_time),
                          static_cast<double>(totals.flops)),
              0, value == 0};
    case ModuleColumn::allocated:
    case ModuleColumn::at_peak:
      return {value > 0 ? format_bytes(static_cast<std::uint64_t>(value)) : "-", format_count(value) + " bytes", 0, value == 0};
    default: return {format_duration(value), format_duration_exact(value), 0, value == 0};
  }
}

void choose(ModulesPanel& panel, std::uint32_t row) {
  panel.state.selected = row;
  std::vector<SliceId> slices = slices_of_row(panel.document, panel.use, panel.state.list, row);
  if (!slices.empty()) walk_cycle(panel.view, {name_of(panel.use, panel.state.list, row), std::move(slices)});
}

void draw_rows(ModulesPanel& panel) {
  ModulesState::Arranged& made = panel.state.arranged;
  Grid grid;
  grid.id = "modules";
  grid.columns = columns_of(panel.use);
  grid.rows = made.rows.size();
  grid.sorted_by = made.list == ModuleList::tree ? kColumns.size() : static_cast<std::size_t>(made.order.column);
  grid.descending = made.order.descending;
  for (std::size_t i = 0; i < made.rows.size() && panel.state.selected >= 0; ++i)
    if (made.rows[i] == panel.state.selected) grid.selected = static_cast<std::int64_t>(i);
  grid.cell = [&](std::size_t row, std::size_t column) {
    return module_cell(panel, made.rows[row], static_cast<ModuleColumn>(column));
  };
  const GridClick click = draw_grid(grid, panel.view);
  if (click.row >= 0) choose(panel, made.rows[static_cast<std::size_t>(click.row)]);
  if (const std::optional<std::size_t> at = draw_row_menu_for(click, grid.rows)) {
    const std::uint32_t row = made.rows[*at];
    const std::string name = name_of(panel.use, made.list, row);
    draw_row_menu({name, totals_of(panel.use, made.list, row).calls}, panel.view, panel.out, [&] {
      return list_of_slices(panel.document.trace, name, slices_of_row(panel.document, panel.use, made.list, row));
    });
  }
  if (click.header < 0 || made.list == ModuleList::tree) return;
  ModuleOrder& order = panel.state.order;
  const auto column = static_cast<ModuleColumn>(click.header);
  order = order.column == column ? ModuleOrder{column, !order.descending} : ModuleOrder{column, column != ModuleColumn::name};
}

// What the rows leave out.
std::string outside_text(const ModuleUse& use) {
  std::string text = fmt::format("Outside: {} forward, {} backward, of {} of GPU work.", format_duration(use.outside_forward),
                                 format_duration(use.outside_backward), format_duration(use.linked));
  if (use.graphs.told < use.graphs.pieces)
    text += fmt::format(
        " {} ran in CUDA graphs whose capture is not in this file and counts where the graph was launched: gapscope modules "
        "--capture FILE gives it to the modules of another recording.",
        format_duration(use.graphs.time - use.graphs.told_time));
  if (const std::string missing = missing_figures(use); !missing.empty()) text += ' ' + missing;
  return text;
}

void draw_toolbar(ModulesPanel& panel) {
  ModulesState& state = panel.state;
  state.list = static_cast<ModuleList>(draw_choice("list", kLists, static_cast<std::size_t>(state.list), panel.view));
  ImGui::SameLine();
  ImGui::SetNextItemWidth(kFilterWidth * panel.view.scale);
  text_field("##filter", "filter by name", state.filter);
  ImGui::SameLine();
  draw_csv_buttons(
      ".modules.csv", [&] { return modules_csv(panel.use, state.arranged.list, state.arranged.rows); }, panel.out);
}

}  // namespace

void draw_modules(const Document& document, ViewState& view, Requests& out) {
  if (draw_part_note(document, view, "the modules follow")) return;
  ask(document, ModulesQuestion{}, out);
  if (draw_trouble<ModulesQuestion>(document, view)) return;
  const std::shared_ptr<const ModuleUse> use = answer_to<ModulesQuestion>(document);
  if (!use) return draw_absence(view, "Adding up the modules...");
  const std::string missing = missing_modules(*use);
  if (use->kind == RegionKind::none) return draw_absence(view, missing);
  ModulesPanel panel{document, view, out, theme_of(view.theme), view.active().modules, *use};
  draw_toolbar(panel);
  arrange_modules(use, view.active().modules);
  if (!missing.empty()) draw_text(Face::sans, panel.theme.muted, missing, /*wrap=*/true);
  draw_text(Face::sans, panel.theme.muted, outside_text(*use), /*wrap=*/true);
  draw_rows(panel);
}

}  // namespace gapscope
