// The tab "Modules": where the time goes by nn.Module. Over core/view/modules/modules_model.h.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/modules/work_moments.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/modules/modules_model.h"
#include "ui/panels.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kFilterWidth = 240;

constexpr std::array<Choice, 3> kLists = {{
    {"Tree", "Every module under its callers."},
    {"By instance", "One row per instance, such as Linear_3, for all its callers."},
    {"By class", "One row per class, such as Linear."},
}};

struct ModulesPanel : PanelOf<ModulesState> {
  const std::shared_ptr<const ModuleUse>& answer;
  const ModuleUse& use = *answer;
};

void choose(ModulesPanel& panel, std::uint32_t row) {
  panel.state.selected = row;
  std::vector<SliceId> slices = slices_of_row(panel.document, panel.use, panel.state.list, row);
  if (!slices.empty()) walk_cycle(panel.view, {name_of(panel.use, panel.state.list, row), std::move(slices)});
}

void draw_rows(ModulesPanel& panel) {
  const std::vector<std::uint32_t>& rows = panel.state.arranged.rows;
  const ModuleRows table = module_rows(panel.use, panel.state.list);
  ColumnGrid grid{"modules", table, rows, panel.state.look};
  grid.sorts = panel.state.list != ModuleList::tree;
  if (panel.state.selected >= 0) grid.selected = static_cast<std::uint32_t>(panel.state.selected);
  const GridClick click = draw_column_grid(grid, panel.window);
  if (click.row >= 0) choose(panel, rows[static_cast<std::size_t>(click.row)]);
  if (const std::optional<std::size_t> at = draw_row_menu_for(click, rows.size())) {
    const std::uint32_t row = rows[*at];
    const std::string name = name_of(panel.use, panel.state.list, row);
    const auto slices = [&] { return slices_of_row(panel.document, panel.use, panel.state.list, row); };
    const Trace& trace = panel.document.trace;
    draw_row_menu({name, ModuleLines{panel.use, panel.state.list}(row).totals.calls,
                   [&] {
                     return list_of_slices(trace, "GPU work of " + name,
                                           work_of_frames(trace, panel.document.session.ops(), slices()));
                   }},
                  panel.document, panel.view, panel.window, panel.out, [&] { return list_of_slices(trace, name, slices()); });
  }
}

// What the rows leave out.
std::string outside_text(const ModuleUse& use) {
  std::string text =
      fmt::format("In no module: {} of {} of GPU work",
                  format_duration(sum_saturating(use.outside_forward, use.outside_backward)), format_duration(use.linked));
  if (use.outside_backward > 0)
    text += fmt::format(", {} of it in the backward of operators there", format_duration(use.outside_backward));
  text += ".";
  if (use.graphs.told < use.graphs.pieces)
    text += fmt::format(
        " {} ran in CUDA graphs whose capture is not in this file. It counts where the graph was launched. gapscope modules "
        "--capture FILE assigns it to modules by the recording of the capture.",
        format_duration(use.graphs.time - use.graphs.told_time));
  if (const std::string missing = missing_figures(use); !missing.empty()) text += ' ' + missing;
  return text;
}

void draw_toolbar(ModulesPanel& panel) {
  ModulesState& state = panel.state;
  state.list = static_cast<ModuleList>(draw_choice("list", kLists, static_cast<std::size_t>(state.list), panel.window));
  ImGui::SameLine();
  ImGui::SetNextItemWidth(kFilterWidth * panel.window.frame.scale);
  text_field("##filter", "filter by name", state.look.filter);
  ImGui::SameLine();
  const auto csv = [&] {
    arrange_modules(panel.answer, state);
    return csv_of(module_rows(panel.use, state.list), state.arranged.rows);
  };
  draw_csv_buttons(".modules.csv", csv, panel.out);
}

}  // namespace

void draw_modules(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "the modules follow")) return;
  ask(document, ModulesQuestion{}, out);
  if (draw_trouble<ModulesQuestion>(document, window)) return;
  const std::shared_ptr<const ModuleUse> use = answer_to<ModulesQuestion>(document);
  if (!use) return draw_absence(window, "Adding up the modules...");
  const std::string missing = missing_modules(*use);
  if (use->kind == RegionKind::none) return draw_absence(window, missing);
  ModulesPanel panel{{document, view, window, out, view.modules}, use};
  draw_toolbar(panel);
  arrange_modules(use, view.modules);
  draw_whole_note(view, window);
  if (!missing.empty()) draw_text(Face::sans, panel.theme.muted, missing, /*wrap=*/true);
  draw_text(Face::sans, panel.theme.muted, outside_text(*use), /*wrap=*/true);
  draw_rows(panel);
}

}  // namespace gapscope
