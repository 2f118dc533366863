// The tab "List": places that have something in common, over core/view/search/result_list.h.
#include <optional>
#include <vector>

#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/kernels/kernels_model.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/widgets/charts.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kFilterWidth = 200, kSideWidth = 320, kLeastRows = 420;  // px at scale 1
constexpr float kMostChart = 180;

struct ListPanel : PanelOf<ListState> {
  const ListPlace& place(std::size_t row) const { return state.arranged.of->places[state.arranged.rows[row]]; }
};

void go_to_place(ListPanel& panel, const ListPlace& place) {
  if (place.slice) return select_slice(panel.view, place.slice, /*reveal=*/true);
  panel.view.selection = {};
  panel.view.signals.reveal_lane = place.lane;
  go_to(panel.view, panel.window, focused_on(place.span, axis_reach(panel.view, panel.document.trace.span)));
}

void draw_rows(ListPanel& panel) {
  ListState& state = panel.state;
  const std::vector<std::uint32_t>& rows = state.arranged.rows;
  const PlaceRows table = place_rows(panel.document.trace, state.of->places);
  ColumnGrid grid{"list", table, rows, state.look};
  grid.noun = "places";
  grid.width_px = ImGui::GetContentRegionAvail().x;
  grid.total = [](std::size_t, GridCell& cell) {
    if (!cell.muted && !cell.text.empty()) cell.hover = "Sum of the durations. Places may be nested.";
  };
  if (const std::int64_t at = row_of(state, panel.view.selection); at >= 0) grid.selected = rows[static_cast<std::size_t>(at)];
  const GridClick click = draw_column_grid(grid, panel.window);
  if (click.row >= 0) go_to_place(panel, panel.place(static_cast<std::size_t>(click.row)));
  if (const std::optional<std::size_t> row = draw_row_menu_for(click, rows.size()))
    draw_place_menu(panel.place(*row), panel.document, panel.view, panel.window, panel.out);
}

void draw_histogram(const ListPanel& panel, ImVec2 size) {
  const DurationHistogram& histogram = panel.state.arranged.histogram;
  if (histogram.counts.empty()) return;
  const auto edge = [&](std::size_t i) { return format_duration(static_cast<Ns>(histogram.edges[i] + 0.5)); };
  const SliceId selection = panel.view.selection;
  draw_bars(
      {"histogram", size, "durations", edge(0), edge(histogram.edges.size() - 1)}, histogram.counts,
      selection ? bin_of(histogram, panel.document.trace.duration(selection)) : std::nullopt, panel.window, [&](std::size_t i) {
        return edge(i) + " to " + edge(i + 1) + ": " + format_count(static_cast<std::int64_t>(histogram.counts[i])) + " places";
      });
}

void draw_head(ListPanel& panel) {
  ImGui::SetNextItemWidth(kFilterWidth * panel.window.frame.scale);
  text_field("##filter", "filter names and lanes", panel.state.look.filter);
  ImGui::SameLine();
  draw_text(Face::bold, panel.theme.text, elide_middle(printable(panel.state.of->title), 60));
  ImGui::SameLine();
  draw_range_chip(panel.document, panel.view, panel.window);
  if (panel.view.range) ImGui::SameLine();
  const auto csv = [&] {
    arrange_list(panel.document.trace, panel.state, panel.view.range);
    return csv_of(place_rows(panel.document.trace, panel.state.of->places), panel.state.arranged.rows);
  };
  draw_csv_buttons(".list.csv", csv, panel.out);
}

}  // namespace

void draw_list(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "lists follow")) return;
  if (!view.list.of)
    return draw_absence(window,
                        "The list is empty. Shift+L lists the search hits, or the slices of the row chosen in a table. Rows "
                        "(right click) and findings can list their places too.");
  ListPanel panel{{document, view, window, out, view.list}};
  draw_head(panel);
  arrange_list(document.trace, view.list, view.range);
  if (view.list.arranged.rows.empty())
    return draw_absence(
        window, view.range ? "No place of the list begins in the selected time." : "No place of the list matches the filter.");
  const float whole = ImGui::GetContentRegionAvail().x, gap = 12 * window.frame.scale, side = kSideWidth * window.frame.scale;
  if (whole < (kLeastRows + kSideWidth) * window.frame.scale) return draw_rows(panel);
  ImGui::BeginChild("rows", {whole - side - gap, 0});
  draw_rows(panel);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("side", {side, 0});
  draw_histogram(panel, {side, std::min(kMostChart * window.frame.scale, ImGui::GetContentRegionAvail().y)});
  ImGui::EndChild();
}

}  // namespace gapscope
