// The tab "Gaps": the idle gaps of the GPUs by owner, and what is known about the chosen one. Over core/view/gpu/gap_owners.h.
#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/view/document.h"
#include "core/view/gpu/gap_owners.h"
#include "core/view/timeline/gap_view.h"
#include "ui/panels.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kFilterWidth = 240;                      // px at scale 1
constexpr float kStoryShare = 0.45f, kStoryLeast = 380;  // of the chosen gap: of the panel's width, and px at scale 1

struct GapsPanel : PanelOf<GapsState> {
  const std::shared_ptr<const GapOwners>& answer;
  const GapOwners& owners = *answer;
};

// The rows as they are looked at, and which of them has the chosen gap.
void bring_up_to_date(GapsPanel& panel) {
  GapsState& state = panel.state;
  const bool other = state.owners.is_other(panel.answer, 0, state.owners_look);
  if (other) state.owners.rows = arrange(gap_owner_rows(panel.document.trace, panel.owners), state.owners_look);
  if (!other && state.owner_of == state.chosen) return;
  state.owner_of = state.chosen;
  state.owner = state.chosen ? panel.owners.row_of(*state.chosen) : -1;
}

void draw_toolbar(GapsPanel& panel) {
  ImGui::SetNextItemWidth(kFilterWidth * panel.window.frame.scale);
  text_field("##filter", "filter by owner, file or cause", panel.state.owners_look.filter);
  ImGui::SameLine();
  draw_range_chip(panel.document, panel.view, panel.window);
  if (panel.view.range) ImGui::SameLine();
  draw_csv_buttons(
      ".gap_owners.csv", [&] { return csv_of(gap_owner_rows(panel.document.trace, panel.owners), panel.state.owners.rows); },
      panel.out);
}

void draw_rows(GapsPanel& panel, float width) {
  const GapOwnerRows table = gap_owner_rows(panel.document.trace, panel.owners);
  ColumnGrid grid{"owners", table, panel.state.owners.rows, panel.state.owners_look};
  grid.noun = "owners";
  grid.width_px = width;
  if (panel.state.owner >= 0) grid.selected = static_cast<std::uint32_t>(panel.state.owner);
  const GridClick click = draw_column_grid(grid, panel.window);
  if (click.row < 0) return;
  const std::uint32_t row = panel.state.owners.rows[static_cast<std::size_t>(click.row)];
  const ChosenGap gap = next_of_owner(panel.owners, row, panel.state.chosen);
  choose_gap(panel.document, panel.view, panel.window, gap.device, gap.gap, /*go_there=*/true);
}

}  // namespace

void draw_gap_owners(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  const TraceSession* facts = document.analysis();
  if (!facts) return draw_working(document, window, "the gaps", out);
  if (facts->usage().devices.empty()) return draw_absence(window, document.trace.producer->no_gpu_work);
  ask(document, GapOwnersQuestion{view.range}, out);
  if (draw_trouble<GapOwnersQuestion>(document, window)) return;
  const std::shared_ptr<const GapOwners> owners = answer_to<GapOwnersQuestion>(document);
  if (!owners) return draw_absence(window, "Adding up the gaps...");
  GapsPanel panel{{document, view, window, out, view.gaps}, owners};
  bring_up_to_date(panel);
  draw_toolbar(panel);
  if (owners->rows.empty())
    return draw_absence(window, view.range ? "No gap begins in the selected time." : "The GPU is never idle in the window.");
  const bool shows_gap = !view.selection && chosen_gap(document, view).gap;
  if (!shows_gap) return draw_rows(panel, 0);
  const float whole = ImGui::GetContentRegionAvail().x, gap = 12 * window.frame.scale;
  const float side = std::max(std::round(whole * kStoryShare), std::min(kStoryLeast * window.frame.scale, whole / 2));
  ImGui::BeginChild("rows", {whole - side - gap, 0});
  draw_rows(panel, ImGui::GetContentRegionAvail().x);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("story", {side, 0});
  draw_gap_details(document, view, window, out);
  ImGui::EndChild();
}

}  // namespace gapscope
