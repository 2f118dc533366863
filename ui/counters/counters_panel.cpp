// The tab "Counters": what the GPU's own counters say of each kernel, and its roof. Over core/view/counters/counters_model.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/counters/counter_words.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/demangle.h"
#include "core/base/text.h"
#include "core/load/merge_counters.h"
#include "core/view/counters/counters_model.h"
#include "ui/counters/roof_chart.h"
#include "ui/panels.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/grid.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kChartShare = 0.4f;  // of the panel's width
constexpr float kChartLeast = 260;   // px at scale 1
constexpr float kDot = 4;

using Column = CountersColumn;
constexpr std::array<GridColumn, 10> kColumns = {{
    {"Name", "The kernel.", 0},
    {"Bound by", "What is used more than 60 % of its peak: the tensor pipe or DRAM; latency where neither is.", 9},
    {"Time", "Of all its launches.", 9, true},
    {"SM %", "Share of the cycles in which an SM has a warp.", 6, true, false, 0, 1},
    {"Tensor %", "Share of the cycles in which the tensor pipes work.", 8, true, false, 0},
    {"DRAM %", "Bytes read and written, of what the memory can move.", 7, true, false, 0},
    {"TFLOP/s", "Operations by the recorded shapes of its products, over its time.", 8, true, false, 0, 2},
    {"FLOP/B", "Operations by the recorded shapes, over the bytes that DRAM moved.", 7, true, false, 0, 3},
    {"Count", "Its launches.", 7, true, false, 0, 4},
    {"Samples", "What the shares rest on: samples while launches of this name ran with nothing beside them.", 8, true, false, 0,
     5},
}};

Rgb ink_of(const Theme& theme, KernelPlace place) {
  switch (place) {
    case KernelPlace::tensor_bound: return theme.good;
    case KernelPlace::memory_bound: return theme.notable;
    case KernelPlace::latency_bound: return theme.informational;
    case KernelPlace::unmeasured: break;
  }
  return theme.muted;
}

GridCell place_cell(const Theme& theme, const MeasuredKernel& kernel) {
  switch (kernel.place) {
    case KernelPlace::tensor_bound:
      return {"tensor", "The tensor pipe is what it uses most.", 0, false, ink_of(theme, kernel.place)};
    case KernelPlace::memory_bound: return {"memory", "DRAM is what it uses most.", 0, false, ink_of(theme, kernel.place)};
    case KernelPlace::latency_bound:
      return {"latency", "It uses neither the tensor pipe nor DRAM more than 60 %.", 0, false, ink_of(theme, kernel.place)};
    case KernelPlace::unmeasured: break;
  }
  return {"-", "Too short to measure: its launches never ran one after another for two samples.", 0, true};
}

GridCell share_cell(const MeasuredKernel& kernel, CounterKind kind) {
  if (kernel.place == KernelPlace::unmeasured || !kernel.means.knows(kind)) return {"-", "", 0, true};
  return {fmt::format("{:.1f}", kernel.means[kind]), "", static_cast<float>(kernel.means[kind] / 100), false};
}

GridCell cell_of(const Trace& trace, const CounterFacts& facts, const MeasuredKernel& kernel, Column column,
                 const Theme& theme) {
  const RooflinePoint* point = column == Column::rate || column == Column::intensity ? point_of(facts, kernel) : nullptr;
  switch (column) {
    case Column::name: {
      const std::string_view name = trace.strings[kernel.name];
      return {printable(kernel_title(name)), printable(demangle(name)), 0, false};
    }
    case Column::place: return place_cell(theme, kernel);
    case Column::time: return {format_duration(kernel.time), format_duration_exact(kernel.time), 0, false};
    case Column::launches: return {format_count(static_cast<std::int64_t>(kernel.launches)), "", 0, false};
    case Column::sm: return share_cell(kernel, CounterKind::sm_active);
    case Column::tensor: return share_cell(kernel, CounterKind::tensor);
    case Column::dram: return share_cell(kernel, CounterKind::dram_share);
    case Column::rate:
      return point ? GridCell{format_significant(point->per_second / 1e12), "", 0, false}
                   : GridCell{"-", "Its operations are not known: no shapes were recorded, or it is no product.", 0, true};
    case Column::intensity:
      return point ? GridCell{format_significant(point->per_byte), "", 0, false} : GridCell{"-", "", 0, true};
    case Column::samples:
      return {format_count(static_cast<std::int64_t>(kernel.means.samples)),
              fmt::format("In {} of {} launches.", format_count(static_cast<std::int64_t>(kernel.pooled)),
                          format_count(static_cast<std::int64_t>(kernel.launches))),
              0, false};
  }
  return {};
}

void choose(const Document& document, ViewState& view, const MeasuredKernel& kernel) {
  const Trace& trace = document.trace;
  walk_cycle(view, {kernel_title(trace.strings[kernel.name]),
                    slices_of_kernel(trace, document.names.slices_named(kernel.name), kernel.device)});
}

bool is_chosen(const Document& document, const ViewState& view, const MeasuredKernel& kernel) {
  const SliceId selection = view.active().selection;
  const GpuRow* row = selection ? document.trace.gpu_row(selection) : nullptr;
  return row && row->device == kernel.device && document.trace.name_id(selection) == kernel.name;
}

void draw_kernel_rows(const Document& document, ViewState& view, Requests& out, const CounterFacts& facts) {
  const Theme& theme = theme_of(view.theme);
  const std::vector<MeasuredKernel>& kernels = facts.kernels();
  RowOrder& order = view.active().counters.order;
  const std::vector<std::uint32_t> rows = counters_rows(document.trace, facts, order);
  draw_text(Face::sans, theme.muted, view.active().range ? "Kernels of the whole recording" : "Kernels");
  ImGui::SameLine();
  draw_csv_buttons(
      ".counters.csv", [&] { return counters_csv(document.trace, facts, rows); }, out);
  Grid grid;
  grid.id = "counters";
  grid.columns = kColumns;
  grid.rows = rows.size();
  grid.sorted_by = order.column;
  grid.descending = order.descending;
  for (std::size_t i = 0; i < rows.size() && grid.selected < 0; ++i)
    if (is_chosen(document, view, kernels[rows[i]])) grid.selected = static_cast<std::int64_t>(i);
  grid.cell = [&](std::size_t row, std::size_t column) {
    return cell_of(document.trace, facts, kernels[rows[row]], static_cast<Column>(column), theme);
  };
  const GridClick click = draw_grid(grid, view);
  if (click.header >= 0)
    order_by(order, static_cast<std::size_t>(click.header), kColumns[static_cast<std::size_t>(click.header)].number);
  if (click.row >= 0) choose(document, view, kernels[rows[static_cast<std::size_t>(click.row)]]);
}

void draw_dots(const Document& document, ViewState& view, Painter& painter, const RoofPlace& at, bool hovered, bool clicked) {
  const Theme& theme = theme_of(view.theme);
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

void draw_roofline(const Document& document, ViewState& view, const RooflineChart& chart) {
  const Theme& theme = theme_of(view.theme);
  draw_text(Face::sans, theme.muted, fmt::format("Roofline of GPU {}: FLOP/s over FLOP per byte", chart.device), /*wrap=*/true);
  draw_hover(
      "Operations by the recorded shapes, bytes as DRAM counted them, roofs by the data sheet. What lies under the slope can "
      "be no faster than its memory traffic; what lies under the level roof, no faster than the arithmetic.");
  if (chart.dots.empty())
    return draw_absence(
        view, "No kernel's operations are known: they come from the shapes that PyTorch writes with record_shapes=True.");
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  Painter painter(*ImGui::GetWindowDrawList(), view.scale);
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = std::max(ImGui::GetContentRegionAvail().y - ImGui::GetTextLineHeight() - painter.px(4), painter.px(80));
  const bool clicked = ImGui::InvisibleButton("roofline", {std::max(width, 1.0f), height});
  const bool hovered = ImGui::IsItemHovered();
  const float gutter = painter.text_width(Face::mono, "000 T") + painter.px(8);
  const RoofPlace at{chart, {begin.x + gutter, begin.y, begin.x + std::max(width, gutter + 1), begin.y + height}};
  painter.fill(at.box, colour(theme.background));
  draw_scales(painter, at, theme);
  painter.clip(at.box);
  draw_roofs(painter, at, theme);
  draw_dots(document, view, painter, at, hovered, clicked);
  painter.unclip();
}

void draw_devices(const Document& document, const ViewState& view, const CounterFacts& facts) {
  const Theme& theme = theme_of(view.theme);
  const Span range = view.active().range.value_or(document.trace.span);
  for (const DeviceCounters& device : facts.devices()) {
    const CounterMeans means = device.over(range);
    std::string text =
        fmt::format("GPU {} in the {}: ", device.device(), view.active().range ? "selected time" : "whole trace");
    text += means.measured() ? use_text(means) : "too short to measure";
    if (means.measured() && means.clock() > 0) text += fmt::format(", {:.0f} MHz", means.clock());
    if (means.knows(CounterKind::watts)) text += fmt::format(", {:.0f} W", means[CounterKind::watts]);
    if (!std::isnan(means.joules)) text += ", " + format_significant(means.joules) + " J";
    draw_text(Face::sans, theme.text, text + " (" + samples_text(means) + ")", /*wrap=*/true);
  }
}

}  // namespace

void draw_counters_panel(const Document& document, ViewState& view, Requests& out) {
  if (!document.analysis()) return draw_working(document, view, "the counters", out);
  const CounterFacts& facts = document.analysis()->counters();
  if (holds_counters_alone(document.trace)) {
    draw_devices(document, view, facts);
    return draw_absence(view, counters_alone_words(document.trace, "TRACE"));
  }
  if (facts.empty())
    return draw_absence(
        view,
        "No hardware counters in this trace: gapscope record --counters writes them. Those of --counters-only come "
        "into a trace by gapscope merge-counters.");
  draw_devices(document, view, facts);
  const float whole = ImGui::GetContentRegionAvail().x, gap = 12 * view.scale;
  const float side = std::max(std::round(whole * kChartShare), std::min(kChartLeast * view.scale, whole / 2));
  ImGui::BeginChild("kernels", {whole - side - gap, 0});
  draw_kernel_rows(document, view, out, facts);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("roof", {side, 0});
  draw_roofline(document, view, roofline_chart(document.trace, facts));
  ImGui::EndChild();
}

}  // namespace gapscope
