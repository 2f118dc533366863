// The tab "Counters": what the GPU's own counters say of each kernel, and its roof. Over core/view/counters/counters_model.h.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/counters/counter_columns.h"
#include "core/analyze/counters/counter_words.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/text.h"
#include "core/load/merge_counters.h"
#include "core/session/missing_words.h"
#include "core/view/counters/counters_model.h"
#include "core/view/document.h"
#include "ui/counters/roof_chart.h"
#include "ui/panels.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kChartShare = 0.4f;  // of the panel's width
constexpr float kChartLeast = 260;   // px at scale 1
constexpr float kDot = 4;

Rgb ink_of(const Theme& theme, KernelPlace place) {
  switch (place) {
    case KernelPlace::tensor_bound: return theme.good;
    case KernelPlace::memory_bound: return theme.notable;
    case KernelPlace::latency_bound: return theme.informational;
    case KernelPlace::unmeasured: break;
  }
  return theme.muted;
}

void choose(const Document& document, TraceView& view, const MeasuredKernel& kernel) {
  const Trace& trace = document.trace;
  walk_cycle(view, {kernel_title(trace.strings[kernel.name]),
                    slices_of_kernel(trace, document.names.slices_named(kernel.name), kernel.device)});
}

bool is_chosen(const Document& document, const TraceView& view, const MeasuredKernel& kernel) {
  const SliceId selection = view.selection;
  const GpuRow* row = selection ? document.trace.gpu_row(selection) : nullptr;
  return row && row->device == kernel.device && document.trace.name_id(selection) == kernel.name;
}

void draw_kernel_rows(const Document& document, TraceView& view, const WindowState& window, Requests& out,
                      const CounterFacts& facts) {
  const Theme& theme = theme_of(window);
  const std::vector<MeasuredKernel>& kernels = facts.kernels();
  const MeasuredRows table = measured_rows(document.trace, facts);
  const std::vector<std::uint32_t> rows = arrange(table, view.counters);
  ImGui::AlignTextToFramePadding();
  draw_text(Face::sans, theme.muted, view.range ? "Kernels of the whole recording" : "Kernels");
  ImGui::SameLine();
  draw_csv_buttons(
      ".counters.csv", [&] { return csv_of(table, rows); }, out);
  ColumnGrid grid{"counters", table, rows, view.counters};
  const auto chosen = std::find_if(rows.begin(), rows.end(), [&](auto row) { return is_chosen(document, view, kernels[row]); });
  if (chosen != rows.end()) grid.selected = *chosen;
  grid.adorn = [&](GridCell& cell, std::uint32_t row, std::size_t column) {
    const bool is_place = std::string_view(table.head(column).id) == "bound_by";
    if (is_place && !cell.muted) cell.ink = ink_of(theme, kernels[row].place);
  };
  const GridClick click = draw_column_grid(grid, window);
  if (click.row >= 0) choose(document, view, kernels[rows[static_cast<std::size_t>(click.row)]]);
}

void draw_dots(const Document& document, TraceView& view, const WindowState& window, Painter& painter, const RoofPlace& at,
               bool hovered, bool clicked) {
  const Theme& theme = theme_of(window);
  const RooflineChart::Dot* nearest = nullptr;
  float best = painter.px(12);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (const RooflineChart::Dot& dot : at.chart.dots) {
    const ImVec2 centre{at.x(dot.point->per_byte), at.y(dot.point->per_second)};
    painter.list().AddCircleFilled(centre, painter.px(kDot), colour(ink_of(theme, dot.kernel->place), 0.85f));
    if (is_chosen(document, view, *dot.kernel))
      painter.list().AddCircle(centre, painter.px(kDot + 3), colour(theme.selection), 16, painter.px(1.5f));
    const float away = std::max(std::abs(centre.x - mouse.x), std::abs(centre.y - mouse.y));
    if (hovered && away < best) best = away, nearest = &dot;
  }
  if (!nearest) return;
  draw_tooltip({at.box.x0, at.box.y0}, {at.box.x1, at.box.y1}, dot_text(document.trace, *nearest));
  if (clicked) choose(document, view, *nearest->kernel);
}

void draw_roofline(const Document& document, TraceView& view, const WindowState& window, const RooflineChart& chart) {
  const Theme& theme = theme_of(window);
  draw_text(Face::sans, theme.muted, fmt::format("Roofline of GPU {}: FLOP/s over FLOP per byte", chart.device), /*wrap=*/true);
  draw_hover(
      "Operations by the recorded shapes, bytes from DRAM counters, roofs from the data sheet. Memory traffic limits kernels "
      "under the slope. Arithmetic limits kernels under the flat roof.");
  if (chart.dots.empty()) return draw_absence(window, no_shapes_words(document.trace));
  draw_roof_chart(chart, window, [&](Painter& painter, const RoofPlace& at, bool hovered, bool clicked) {
    draw_dots(document, view, window, painter, at, hovered, clicked);
  });
}

void draw_devices(const Document& document, const TraceView& view, const WindowState& window, const CounterFacts& facts) {
  const Theme& theme = theme_of(window);
  const Span range = view.range.value_or(document.trace.span);
  for (const DeviceCounters& device : facts.devices()) {
    const CounterMeans means = device.over(range);
    std::string text = fmt::format("GPU {} while sampled{}: ", device.device(), view.range ? ", in the selected time" : "");
    text += means.measured() ? use_text(means) : "too short to measure";
    if (means.measured() && means.clock() > 0) text += fmt::format(", {:.0f} MHz", means.clock());
    if (means.knows(CounterKind::watts)) text += fmt::format(", {:.0f} W", means[CounterKind::watts]);
    if (!std::isnan(means.joules)) text += ", " + format_significant(means.joules) + " J";
    draw_text(Face::sans, theme.text, text + " (" + samples_text(means) + ")", /*wrap=*/true);
  }
}

}  // namespace

void draw_counters_panel(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (!document.analysis()) return draw_working(document, window, "the counters", out);
  const CounterFacts& facts = document.analysis()->counters();
  if (holds_counters_alone(document.trace)) {
    draw_devices(document, view, window, facts);
    return draw_absence(window, counters_alone_words(document.trace, "TRACE"));
  }
  if (facts.empty())
    return draw_absence(window,
                        "No hardware counters in this trace: record with gapscope record --counters. Those of --counters-only "
                        "come into a trace by gapscope merge-counters.");
  draw_devices(document, view, window, facts);
  const float whole = ImGui::GetContentRegionAvail().x, gap = 12 * window.frame.scale;
  const float side = std::max(std::round(whole * kChartShare), std::min(kChartLeast * window.frame.scale, whole / 2));
  ImGui::BeginChild("kernels", {whole - side - gap, 0});
  draw_kernel_rows(document, view, window, out, facts);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("roof", {side, 0});
  draw_roofline(document, view, window, roofline_chart(document.trace, facts));
  ImGui::EndChild();
}

}  // namespace gapscope
