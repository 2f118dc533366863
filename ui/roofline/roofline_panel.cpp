// The tab "Roofline": how long each operator had to take, as a chart and as rows. Over core/view/roofline/roofline_model.h.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/view/document.h"
#include "core/view/roofline/roofline_model.h"
#include "ui/counters/roof_chart.h"
#include "ui/panels.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kChartShare = 0.4f;            // of the panel's width
constexpr float kChartLeast = 260;             // px at scale 1
constexpr float kLeastDot = 3, kMostDot = 14;  // px at scale 1
constexpr float kModuleWidth = 220;            // px at scale 1

Rgb ink_of(const Theme& theme, FloorBound bound) {
  switch (bound) {
    case FloorBound::compute: return theme.good;
    case FloorBound::memory: return theme.notable;
    case FloorBound::launch: return theme.informational;
    case FloorBound::link:
    case FloorBound::unknown: break;
  }
  return theme.muted;
}

struct RooflinePanel {
  const Document& document;
  TraceView& view;
  WindowState& window;
  Requests& out;
  const RooflineAnswer& answer;
  std::optional<std::size_t> chosen;  // the row of the selected slice
};

void choose(RooflinePanel& panel, std::size_t row) {
  const Trace& trace = panel.document.trace;
  const std::vector<SliceId> calls = calls_of_row(trace, panel.answer, row);
  if (!calls.empty()) walk_cycle(panel.view, {printable(panel.answer.rows[row].work.op), calls});
}

void draw_module_choice(const RooflinePanel& panel) {
  std::string& module = panel.view.roofline.module;
  const char* const all = "all modules";
  ImGui::SetNextItemWidth(kModuleWidth * panel.window.frame.scale);
  if (!ImGui::BeginCombo("##module", module.empty() ? all : printable(module).c_str())) return;
  if (ImGui::Selectable(all, module.empty())) module.clear();
  for (const RooflineSum& sum : panel.answer.modules) {
    if (sum.name.empty()) continue;
    ImGui::PushID(sum.name.c_str());
    const std::string headroom = sum.headroom() ? "  " + format_duration(static_cast<Ns>(*sum.headroom())) : std::string();
    if (ImGui::Selectable((printable(sum.name) + headroom).c_str(), sum.name == module)) module = sum.name;
    ImGui::PopID();
  }
  ImGui::EndCombo();
}

void draw_rows(RooflinePanel& panel) {
  const Theme& theme = theme_of(panel.window);
  RooflineState& state = panel.view.roofline;
  const RooflineTable table = roofline_table(panel.document.trace, panel.answer.rows);
  const std::vector<std::uint32_t> rows = arrange(table, state.look);
  draw_module_choice(panel);
  draw_hover("Calls of one module, with its headroom.");
  ImGui::SameLine();
  draw_columns_menu(table, state.look, panel.window);
  ImGui::SameLine();
  draw_csv_buttons(
      ".roofline.csv", [&] { return csv_of(table, rows); }, panel.out);
  ColumnGrid grid{"roofline", table, rows, state.look};
  grid.noun = "rows";
  if (panel.chosen) grid.selected = static_cast<std::uint32_t>(*panel.chosen);
  const std::size_t bound = column_at(roofline_columns(), "bound"), reached = column_at(roofline_columns(), "reached");
  grid.adorn = [&](GridCell& cell, std::uint32_t row, std::size_t column) {
    const Floor& floor = panel.answer.rows[row].floor;
    if (column == bound && floor.bound != FloorBound::unknown) cell.ink = ink_of(theme, floor.bound);
    if (column == reached && !floor.note.empty()) cell.hover = std::string(floor.note);
  };
  const GridClick click = draw_column_grid(grid, panel.window);
  if (click.row >= 0) choose(panel, rows[static_cast<std::size_t>(click.row)]);
}

void draw_dots(RooflinePanel& panel, Painter& painter, const RoofPlace& at, bool hovered, bool clicked) {
  const Theme& theme = theme_of(panel.window);
  const std::vector<RooflineRow>& rows = panel.answer.rows;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::optional<std::size_t> nearest;
  float best = painter.px(kMostDot);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto x = rows[i].intensity(), y = rows[i].per_second();
    if (!x || !y || *x <= 0 || *y <= 0 || rows[i].work.device != at.chart.device) continue;
    const ImVec2 centre{at.x(*x), at.y(*y)};
    const float radius = painter.px(kLeastDot + (kMostDot - kLeastDot) * dot_size(rows[i], rows));
    painter.list().AddCircleFilled(centre, radius, colour(ink_of(theme, rows[i].floor.bound), 0.6f));
    if (panel.chosen == i)
      painter.list().AddCircle(centre, radius + painter.px(3), colour(theme.selection), 24, painter.px(1.5f));
    const float away = std::max(std::abs(centre.x - mouse.x), std::abs(centre.y - mouse.y));
    if (hovered && away < best) best = away, nearest = i;
  }
  if (!nearest) return;
  draw_tooltip({at.box.x0, at.box.y0}, {at.box.x1, at.box.y1}, row_text(rows[*nearest]));
  if (clicked) choose(panel, *nearest);
}

void draw_chart(RooflinePanel& panel) {
  const Theme& theme = theme_of(panel.window);
  const RooflineChart chart = row_chart(panel.document.trace, panel.answer.rows);
  draw_text(Face::sans, theme.muted, fmt::format("Roofline of GPU {}: FLOP/s over FLOP per byte", chart.device), /*wrap=*/true);
  draw_hover(
      "Operations and bytes by the recorded shapes, roofs from the data sheet. One dot per row, its size is the time. "
      "Operators that only move data are not shown.");
  draw_roof_chart(chart, panel.window, [&](Painter& painter, const RoofPlace& at, bool hovered, bool clicked) {
    draw_dots(panel, painter, at, hovered, clicked);
  });
}

}  // namespace

void draw_roofline_tab(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "the roofline follows")) return;
  ask(document, RooflineQuestion{view.roofline.module}, out);
  if (draw_trouble<RooflineQuestion>(document, window)) return;
  const auto answer = answer_to<RooflineQuestion>(document);
  if (!answer) return draw_absence(window, "Computing the roofline...");
  if (const std::string_view missing = missing_roofline(document.trace, answer->table);
      !missing.empty() && answer->module.empty())
    return draw_absence(window, missing);
  const SliceId selection = view.selection;
  RooflinePanel panel{document, view, window, out, *answer, selection ? row_of_slice(*answer, selection) : std::nullopt};
  draw_whole_note(view, window);
  draw_text(Face::sans, theme_of(window).text, coverage_words(document.trace, answer->table), /*wrap=*/true);
  if (!answer->clock.empty()) draw_text(Face::sans, theme_of(window).muted, answer->clock, /*wrap=*/true);
  const float whole = ImGui::GetContentRegionAvail().x, gap = 12 * window.frame.scale;
  const float side = std::max(std::round(whole * kChartShare), std::min(kChartLeast * window.frame.scale, whole / 2));
  ImGui::BeginChild("rows", {whole - side - gap, 0});
  draw_rows(panel);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("roof", {side, 0});
  draw_chart(panel);
  ImGui::EndChild();
}

}  // namespace gapscope
