// The tab "Memory": allocated and reserved bytes over time, the peak and its stack, and who asked for memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/base/text.h"
#include "core/view/table/csv.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/widgets/charts.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/grid.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kCurveShare = 0.56f;

std::string bytes_text(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "") + format_bytes(static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes));
}

std::string device_name(const MemoryDevice& device) { return memory_device_name(device.device_type, device.device); }

void draw_devices(const Document& document, const MemoryUse& use, ViewState& view) {
  std::vector<std::string> names;
  for (const MemoryDevice& device : use.devices) names.push_back(device_name(device));
  std::vector<Choice> choices;
  for (const std::string& name : names) choices.push_back({name.c_str(), "Show this memory."});
  view.active().memory_device = draw_choice("device", choices, view.active().memory_device, view);
  ImGui::SameLine(0, 14 * view.scale);
  draw_range_chip(document, view);
  if (view.active().range) ImGui::SameLine(0, 14 * view.scale);
}

void draw_peak(const Document& document, const MemoryDevice& device, ViewState& view) {
  const Theme& theme = theme_of(view.theme);
  const MemoryPoint peak = device.points[device.peak];
  std::string text = (view.active().range ? "peak of the whole recording " : "peak ") + bytes_text(peak.allocated) + " at " +
                     format_duration(peak.time - document.trace.span.begin);
  if (!device.states_totals) text += " (of what this recording saw, beginning at 0)";
  if (device.peak_reserved >= 0) text += ", reserved at most " + bytes_text(device.peak_reserved);
  text += "; " + format_count(static_cast<std::int64_t>(device.allocations)) + " allocations, " +
          format_count(static_cast<std::int64_t>(device.frees)) + " frees";
  draw_text(Face::sans, theme.text, text, /*wrap=*/true);
  if (device.out_of_memory > 0)
    draw_text(Face::sans, theme.costly,
              format_count(static_cast<std::int64_t>(device.out_of_memory)) + " allocations failed for lack of memory.");
  if (device.peak_stack.empty()) return;
  draw_text(Face::sans, theme.muted, "at the peak:");
  for (std::size_t i = 0; i < device.peak_stack.size(); ++i) {
    const std::string name = elide_middle(document.trace.name(device.peak_stack[i]), 48);
    const float room = ImGui::GetContentRegionMax().x - ImGui::GetItemRectMax().x + ImGui::GetWindowPos().x;
    if (room > text_width(Face::mono, name) + 24 * view.scale) {
      ImGui::SameLine();
    }
    ImGui::PushID(static_cast<int>(i));
    if (draw_link(Face::mono, theme.accent, name)) select_slice(view, device.peak_stack[i], /*reveal=*/true);
    ImGui::PopID();
  }
}

void draw_curve(const Document& document, const MemoryDevice& device, ViewState& view) {
  const Theme& theme = theme_of(view.theme);
  const MemoryPoint peak = device.points[device.peak];
  const Span whole = document.trace.span;
  const Span span =
      view.active().range && view.active().range->overlaps(whole) ? intersect(*view.active().range, whole) : whole;
  const std::size_t first = device.points.at(span.begin).value_or(0);  // what holds when it begins
  const bool reserved = device.peak_reserved >= 0;
  const ChartCurve allocated{
      theme.accent, true,
      [&](std::size_t i) {
        return ChartPoint{device.points[first + i].time, static_cast<double>(device.points[first + i].allocated)};
      },
      device.points.size() - first};
  const ChartCurve kept{theme.muted, false,
                        [&](std::size_t i) {
                          return ChartPoint{device.points[first + i].time,
                                            static_cast<double>(std::max<std::int64_t>(device.points[first + i].reserved, 0))};
                        },
                        device.points.size() - first};
  const std::array<ChartCurve, 2> curves{kept, allocated};
  const std::int64_t most = std::max(peak.allocated, device.peak_reserved);
  draw_legend(theme.accent, "allocated", view);
  if (reserved) {
    ImGui::SameLine(0, 14 * view.scale);
    draw_legend(theme.muted, "reserved", view);
  }
  ImGui::SameLine(0, 14 * view.scale);
  draw_text(Face::sans, theme.muted, "up to " + bytes_text(most));
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float height = std::max(room.y - ImGui::GetTextLineHeightWithSpacing() * 2.5f, 80 * view.scale);
  const auto mark =
      span.contains(peak.time) ? std::optional(ChartPoint{peak.time, static_cast<double>(peak.allocated)}) : std::nullopt;
  const auto pointer = draw_curves(
      {"curve", {room.x, height}, "", format_duration(span.begin - whole.begin), format_duration(span.end - whole.begin)},
      std::span(curves).subspan(reserved ? 0 : 1), span, static_cast<double>(most), mark, view);
  if (!pointer) return;
  const std::optional<std::size_t> at = device.points.at(pointer->time);
  const std::string now = at ? bytes_text(device.points[*at].allocated) : "nothing known yet";
  draw_tooltip(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
               format_duration(pointer->time - whole.begin) + ": " + now + " allocated");
  if (pointer->clicked) {
    const Ns half = std::max<Ns>(view.active().time.span.length() / 2, 1);
    go_to(view, within_limits(TimeView{{pointer->time - half, pointer->time + half}, 0, 0}, whole));
  }
}

constexpr std::array<GridColumn, 5> kColumns = {{
    {"Operator", "Innermost operator that the memory was asked for in.", 0, false, false, 0},
    {"Where", "Whose memory.", 7, false, false, 0},
    {"Allocations", "How often it asked.", 11, true, false, 0},
    {"Allocated", "Bytes that it asked for.", 11, true, false, 2},
    {"Freed", "Bytes given back while it ran.", 11, true, false, 2},
}};

std::string operators_csv(const Trace& trace, const MemoryUse& use) {
  std::string text = "operator,where,allocations,allocated_bytes,freed_bytes\n";
  for (const MemoryOperator& op : use.operators)
    text += csv_cell(op.name ? trace.strings[op.name] : std::string_view("outside every operator")) + ',' +
            memory_device_name(op.device_type, op.device) + ',' + std::to_string(op.allocations) + ',' +
            std::to_string(op.allocated) + ',' + std::to_string(op.freed) + '\n';
  return text;
}

void draw_operators(const Document& document, ViewState& view, const MemoryUse& use, Requests& out) {
  const Trace& trace = document.trace;
  if (view.active().range) {
    draw_text(Face::sans, theme_of(view.theme).muted, "Of the whole recording:");
    ImGui::SameLine();
  }
  draw_csv_buttons(
      ".memory.csv", [&] { return operators_csv(trace, use); }, out);
  Grid grid;
  grid.id = "operators";
  grid.columns = kColumns;
  grid.rows = use.operators.size();
  grid.sorted_by = 3;
  grid.cell = [&](std::size_t row, std::size_t column) -> GridCell {
    const MemoryOperator& op = use.operators[row];
    switch (column) {
      case 0: {
        const std::string name = op.name ? std::string(trace.strings[op.name]) : "outside every operator";
        return {name, name, 0, !op.name};
      }
      case 1: return {memory_device_name(op.device_type, op.device), "", 0, true};
      case 2: return {format_count(static_cast<std::int64_t>(op.allocations)), "", 0, false};
      case 3: return {bytes_text(op.allocated), format_count(op.allocated) + " bytes", 0, op.allocated == 0};
      default: return {bytes_text(op.freed), format_count(op.freed) + " bytes", 0, op.freed == 0};
    }
  };
  const GridClick click = draw_grid(grid, view);
  if (click.row < 0) return;
  const MemoryOperator& op = use.operators[static_cast<std::size_t>(click.row)];
  if (!op.name) return;
  SliceCycle cycle{std::string(trace.strings[op.name]), {}};
  for (const SliceId s : document.names.slices_named(op.name))
    if (trace.kind(s) == Kind::op) cycle.slices.push_back(s);
  walk_cycle(view, std::move(cycle));
}

}  // namespace

void draw_memory(const Document& document, ViewState& view, Requests& out) {
  const Analysis* facts = document.analysis();
  if (!facts) return draw_working(document, view, "the memory", out);
  const MemoryUse& use = facts->memory();
  if (use.devices.empty()) return draw_absence(view, "No memory recorded: pass profile_memory=True to the profiler.");
  const float whole = ImGui::GetContentRegionAvail().x;
  const float gap = 16 * view.scale;
  view.active().memory_device = std::min(view.active().memory_device, use.devices.size() - 1);
  ImGui::BeginChild("memory", {std::round(whole * kCurveShare), 0});
  draw_devices(document, use, view);
  const MemoryDevice& device = use.devices[view.active().memory_device];
  if (!device.points.empty()) {
    draw_curve(document, device, view);
    draw_peak(document, device, view);
  }
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("who", {whole - std::round(whole * kCurveShare) - gap, 0});
  draw_operators(document, view, use, out);
  ImGui::EndChild();
}

}  // namespace gapscope
