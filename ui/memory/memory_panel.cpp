// The tab "Memory": allocated and reserved bytes over time, the peak and its stack, and who asked for memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/overview/missing_words.h"
#include "core/base/text.h"
#include "core/trace/program_kind.h"
#include "core/view/memory/memory_state.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/widgets/charts.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kCurveShare = 0.56f, kLeastCurve = 0.36f;
constexpr float kTableWidth = 524;  // px at scale 1: all columns with a name of some length

std::string bytes_text(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "") + format_bytes(static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes));
}

std::string device_name(const MemoryDevice& device) { return memory_device_name(device.device_type, device.device); }

void draw_devices(const Document& document, const MemoryUse& use, ViewState& view) {
  std::vector<std::string> names;
  for (const MemoryDevice& device : use.devices) names.push_back(device_name(device));
  std::vector<Choice> choices;
  for (const std::string& name : names) choices.push_back({name.c_str(), "Show this memory."});
  view.active().memory.device = draw_choice("device", choices, view.active().memory.device, view);
  ImGui::SameLine(0, 14 * view.scale);
  draw_range_chip(document, view);
  if (view.active().range) ImGui::SameLine(0, 14 * view.scale);
}

// `device`: of the marked range, where one is.
void draw_peak(const Document& document, const MemoryDevice& device, const std::optional<Span>& range, ViewState& view) {
  const Theme& theme = theme_of(view.theme);
  const MemoryPoint peak = device.points[device.peak];
  const bool from_before = range && peak.time < range->begin;
  std::string text = (range ? "in the range at most " : "peak ") + bytes_text(peak.allocated) +
                     (from_before ? ", as at its begin, from " : " at ") +
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

// `device` is of the whole recording.
void draw_curve(const Document& document, const MemoryDevice& device, ViewState& view) {
  const Theme& theme = theme_of(view.theme);
  const MemoryPoint peak = device.points[device.peak];
  const Span whole = document.trace.span;
  // The marked time, else what the timeline shows.
  const Span shown = view.active().range.value_or(view.active().time.span);
  const Span span = shown.overlaps(whole) ? intersect(shown, whole) : whole;
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
  // Each beside the one before where it fits there, else below.
  const auto make_room = [&](std::string_view words) {
    if (ImGui::GetContentRegionAvail().x < text_width(Face::sans, words) + 20 * view.scale) ImGui::NewLine();
  };
  const auto beside = [&](std::string_view words) {
    ImGui::SameLine(0, 14 * view.scale);
    make_room(words);
  };
  make_room("allocated");
  draw_legend(theme.accent, "allocated", view);
  if (reserved) {
    beside("reserved");
    draw_legend(theme.muted, "reserved", view);
  }
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float height = std::max(room.y - ImGui::GetTextLineHeightWithSpacing() * 2.5f, 80 * view.scale);
  const auto mark =
      span.contains(peak.time) ? std::optional(ChartPoint{peak.time, static_cast<double>(peak.allocated)}) : std::nullopt;
  const auto pointer = draw_curves({"curve",
                                    {room.x, height},
                                    "",
                                    format_duration(span.begin - whole.begin),
                                    format_duration(span.end - whole.begin),
                                    bytes_text(most)},
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

void draw_operators(const Document& document, ViewState& view, const MemoryUse& use, Requests& out) {
  const Trace& trace = document.trace;
  TableLook& look = view.active().memory.look;
  const MemoryRows table = memory_rows(trace, use);
  const std::vector<std::uint32_t> rows = arrange(table, look);
  draw_text(Face::sans, theme_of(view.theme).muted, view.active().range ? "Asked for in the range" : "Asked for");
  ImGui::SameLine();
  draw_csv_buttons(
      ".memory.csv", [&] { return csv_of(table, rows); }, out);
  const auto slices_of = [&](const MemoryOperator& op) {
    std::vector<SliceId> slices;
    for (const SliceId s : document.names.slices_named(op.name))
      if (trace.kind(s) == Kind::op) slices.push_back(s);
    return slices;
  };
  const GridClick click = draw_column_grid({"operators", table, rows, look}, view);
  if (const std::optional<std::size_t> at = draw_row_menu_for(click, rows.size())) {
    const MemoryOperator& op = use.operators[rows[*at]];
    const std::string name(memory_operator_name(trace, op));
    const std::vector<SliceId> slices = op.name ? slices_of(op) : std::vector<SliceId>{};
    draw_row_menu({name, slices.size()}, document, view, out, [&] { return list_of_slices(trace, name, slices); });
  }
  if (click.row < 0) return;
  const MemoryOperator& op = use.operators[rows[static_cast<std::size_t>(click.row)]];
  if (op.name) walk_cycle(view, {std::string(trace.strings[op.name]), slices_of(op)});
}

// Of the marked range, where one is: null until it is added up.
const MemoryUse* use_shown(const Document& document, const MemoryUse& whole, const ViewState& view, Requests& out) {
  if (!view.active().range) return &whole;
  ask(document, MemoryQuestion{*view.active().range}, out);
  const auto& found = answer_to<MemoryQuestion>(document);
  return found ? &found->use : nullptr;
}

const MemoryDevice* same_device(const MemoryUse& use, const MemoryDevice& device) {
  for (const MemoryDevice& d : use.devices)
    if (d.device_type == device.device_type && d.device == device.device) return &d;
  return nullptr;
}

}  // namespace

void draw_memory(const Document& document, ViewState& view, Requests& out) {
  const Analysis* facts = document.analysis();
  if (!facts) return draw_working(document, view, "the memory", out);
  const MemoryUse& use = facts->memory();
  if (use.devices.empty()) return draw_absence(view, no_memory_words(program_kind(document.trace)));
  if (draw_trouble<MemoryQuestion>(document, view)) return;
  const float whole = ImGui::GetContentRegionAvail().x;
  const float gap = 16 * view.scale;
  view.active().memory.device = std::min(view.active().memory.device, use.devices.size() - 1);
  const float left = std::round(std::clamp(whole - gap - kTableWidth * view.scale, whole * kLeastCurve, whole * kCurveShare));
  ImGui::BeginChild("memory", {left, 0});
  draw_devices(document, use, view);
  const MemoryDevice& device = use.devices[view.active().memory.device];
  const MemoryUse* shown = use_shown(document, use, view, out);
  const MemoryDevice* shown_device = shown ? same_device(*shown, device) : nullptr;
  if (!device.points.empty()) draw_curve(document, device, view);
  if (shown_device && !shown_device->points.empty()) draw_peak(document, *shown_device, view.active().range, view);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("who", {whole - left - gap, 0});
  if (shown) draw_operators(document, view, *shown, out);
  ImGui::EndChild();
}

}  // namespace gapscope
