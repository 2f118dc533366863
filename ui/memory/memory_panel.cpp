// The tab "Memory": the peak and who holds it, or who asked for memory; allocations over time or their total.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/trace/program_kind.h"
#include "core/view/document.h"
#include "core/view/memory/allocation_stack.h"
#include "core/view/memory/held_memory.h"
#include "core/view/memory/memory_state.h"
#include "core/view/source_place.h"
#include "core/view/timeline/slice_colour.h"
#include "core/view/timeline/time_view.h"
#include "ui/memory/memory_tables.h"
#include "ui/panels.h"
#include "ui/widgets/charts.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kCurveShare = 0.5f, kLeastCurve = 0.36f;
constexpr float kLinesBelow = 5.5f;  // under the stack: its ends, what is chosen, what made the peak
constexpr float kTableWidth = 640;   // px at scale 1: all columns with a name of some length

std::string bytes_text(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "") + format_bytes(static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes));
}

std::string device_name(const MemoryDevice& device) { return memory_device_name(device.device_type, device.device); }

constexpr std::array<Hue, 9> kBandHues = {Hue::gemm, Hue::attention, Hue::convolution, Hue::elementwise, Hue::reduction,
                                          Hue::copy, Hue::op,        Hue::annotation,  Hue::call};

// What asks for memory has a colour of its own, the same one everywhere in the chart.
Rgb band_colour(const Document& document, const Allocation& allocation, const WindowState& window) {
  const SliceId by = asked_by(document, allocation);
  const std::string_view name = by ? document.trace.name(by) : std::string_view();
  const Hue hue = by ? kBandHues[hash_text(name) % kBandHues.size()] : Hue::other;
  return paint_of(window.settings.slice_colours, hue, shade_of(name)).fill;
}

void draw_devices(const Document& document, const MemoryUse& use, TraceView& view, const WindowState& window) {
  std::vector<std::string> names;
  for (const MemoryDevice& device : use.devices) names.push_back(device_name(device));
  std::vector<Choice> choices;
  for (const std::string& name : names) choices.push_back({name.c_str(), "Show this memory."});
  MemoryState& state = view.memory;
  const std::size_t before = state.device;
  state.device = draw_choice("device", choices, state.device, window);
  if (state.device != before) state.chosen.clear();
  if (!view.range) return;
  ImGui::SameLine(0, 14 * window.frame.scale);
  draw_range_chip(document, view, window);
}

void draw_shapes(TraceView& view, const WindowState& window) {
  MemoryState& state = view.memory;
  const std::array<Choice, 2> shapes{
      {{"Allocations", "Each allocation, the largest at the bottom."}, {"Total", "Allocated and reserved bytes."}}};
  state.shape = static_cast<MemoryState::Shape>(draw_choice("shape", shapes, static_cast<std::size_t>(state.shape), window));
  ImGui::SameLine(0, 14 * window.frame.scale);
}

// Of a line with nothing on it.
float line_width() { return ImGui::GetWindowContentRegionMax().x - ImGui::GetWindowContentRegionMin().x; }

// `device`: of the marked range, where one is.
void draw_peak(const Document& document, const MemoryDevice& device, const std::optional<Span>& range,
               const WindowState& window) {
  const Theme& theme = theme_of(window);
  const MemoryPoint peak = device.points[device.peak];
  const bool from_before = range && peak.time < range->begin;
  std::string text = (range ? "in the range at most " : "peak ") + bytes_text(peak.allocated) +
                     (from_before ? ", as at its begin, from " : " at ") +
                     format_duration(peak.time - document.trace.span.begin);
  if (!device.states_totals) text += " (of recorded allocations, starting at 0)";
  if (device.peak_reserved >= 0) text += ", reserved at most " + bytes_text(device.peak_reserved);
  text += "; " + counted(device.allocations, "allocation") + ", " + counted(device.frees, "free");
  go_on(text_width(Face::sans, text), 14 * window.frame.scale);
  draw_text(Face::sans, theme.text, text, /*wrap=*/true);
  if (device.out_of_memory > 0)
    draw_text(Face::sans, theme.costly, counted(device.out_of_memory, "allocation") + " failed: out of memory.");
}

// `device`: of the marked range, where one is.
void draw_peak_stack(const Document& document, const MemoryDevice& device, TraceView& view, const WindowState& window) {
  const Theme& theme = theme_of(window);
  if (device.peak_stack.empty()) return;
  draw_text(Face::sans, theme.muted, "the allocation of the peak is in");
  const auto most_letters = static_cast<std::size_t>(std::max(line_width() / text_width(Face::mono, "0"), 8.0f));
  for (std::size_t i = 0; i < device.peak_stack.size(); ++i) {
    const std::string name = elide_middle(document.trace.name(device.peak_stack[i]), std::min<std::size_t>(most_letters, 48));
    const float room = ImGui::GetContentRegionMax().x - ImGui::GetItemRectMax().x + ImGui::GetWindowPos().x;
    if (room > text_width(Face::mono, name) + 24 * window.frame.scale) {
      ImGui::SameLine();
    }
    ImGui::PushID(static_cast<int>(i));
    if (draw_link(Face::mono, theme.accent, name)) select_slice(view, device.peak_stack[i], /*reveal=*/true);
    ImGui::PopID();
  }
}

// The marked time, else what the timeline shows.
Span shown_span(const Document& document, const TraceView& view) {
  const Span whole = document.trace.span, shown = view.range.value_or(view.time.span);
  return shown.overlaps(whole) ? intersect(shown, whole) : whole;
}

// A legend is next to what is before it where it fits there, else below.
void make_room(std::string_view words, const WindowState& window) {
  if (ImGui::GetContentRegionAvail().x < text_width(Face::sans, words) + 20 * window.frame.scale) ImGui::NewLine();
}

// `device` is of the whole recording.
void draw_curve(const Document& document, const MemoryDevice& device, TraceView& view, const WindowState& window) {
  const Theme& theme = theme_of(window);
  const MemoryPoint peak = device.points[device.peak];
  const Span whole = document.trace.span, span = shown_span(document, view);
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
  make_room("allocated", window);
  draw_legend(theme.accent, "allocated", window);
  if (reserved) {
    ImGui::SameLine(0, 14 * window.frame.scale);
    make_room("reserved", window);
    draw_legend(theme.muted, "reserved", window);
  }
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float height = std::max(room.y - ImGui::GetTextLineHeightWithSpacing() * 2.5f, 80 * window.frame.scale);
  const auto mark =
      span.contains(peak.time) ? std::optional(ChartPoint{peak.time, static_cast<double>(peak.allocated)}) : std::nullopt;
  const auto pointer = draw_curves({"curve",
                                    {room.x, height},
                                    "",
                                    format_duration(span.begin - whole.begin),
                                    format_duration(span.end - whole.begin),
                                    bytes_text(most)},
                                   std::span(curves).subspan(reserved ? 0 : 1), span, static_cast<double>(most), mark, window);
  if (!pointer) return;
  const std::optional<std::size_t> at = device.points.at(pointer->time);
  const std::string now = at ? bytes_text(device.points[*at].allocated) : "nothing known yet";
  draw_tooltip(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
               format_duration(pointer->time - whole.begin) + ": " + now + " allocated");
  if (pointer->clicked) {
    const Ns half = std::max<Ns>(view.time.span.length() / 2, 1);
    go_to(view, window, within_limits(TimeView{{pointer->time - half, pointer->time + half}, 0, 0}, whole));
  }
}

// Of what is chosen the one that the selection asked for, else the largest.
const Allocation& one_of(const Document& document, const std::vector<Allocation>& chosen, SliceId selection) {
  const Trace& trace = document.trace;
  const auto is_selected = [&](const Allocation& a) {
    return a.born != kNoRecord && trace.span_of(selection).contains(trace.memory[a.born].time) &&
           asked_by(document, a) == selection;
  };
  if (selection)
    if (const auto at = std::find_if(chosen.begin(), chosen.end(), is_selected); at != chosen.end()) return *at;
  return *std::max_element(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
}

// What is chosen of the stack: who asked for it, and where in the program.
void draw_chosen(const Document& document, TraceView& view, const WindowState& window, Requests& out) {
  const Theme& theme = theme_of(window);
  const std::vector<Allocation>& chosen = view.memory.chosen;
  if (chosen.empty()) {
    draw_text(Face::sans, theme.muted, "Click an allocation to see the operator that made it.", /*wrap=*/true);
    return;
  }
  const Allocation& one = one_of(document, chosen, view.selection);
  const std::string words = allocation_words(document, one);
  const SliceId by = asked_by(document, one);
  if (by && draw_link(Face::sans, theme.accent, words, /*wrap=*/true))
    select_slice(view, by, /*reveal=*/true);
  else if (!by)
    draw_text(Face::sans, theme.text, words, /*wrap=*/true);
  if (by) draw_hover("Select it.");
  const std::string frame = frame_of(document, one);
  if (const std::optional<SourcePlace> place = source_place(frame)) {
    if (draw_link(Face::mono, theme.accent, printable(place_text(*place)), /*wrap=*/true))
      out.add(OpenInEditor{place->file, place->line});
    draw_hover(printable(frame) + "\nOpens in the editor.");
  }
  std::int64_t all = 0;
  for (const Allocation& allocation : chosen) add_saturating(all, allocation.bytes);
  const std::string among = chosen.size() == 1 ? std::string()
                                               : "one of the " + format_count(static_cast<std::int64_t>(chosen.size())) +
                                                     " outlined, which hold " + bytes_text(all) + "; ";
  draw_text(Face::sans, theme.muted, among + allocation_time_words(document, one), /*wrap=*/true);
}

// What the pointer is on, or none of empty room. Runs of one column do not lie over each other.
const StackedRun* run_at(const AllocationStack& stack, const ChartPointer& pointer) {
  const Ns length = std::max<Ns>(stack.span.length(), 1);
  const auto column = static_cast<std::uint32_t>(
      std::clamp<Ns>(static_cast<Ns>(static_cast<__int128>(pointer.time - stack.span.begin) * stack.columns / length), 0,
                     static_cast<Ns>(stack.columns) - 1));
  for (const StackedRun& run : stack.runs)
    if (run.first <= column && column < run.last && pointer.value >= static_cast<double>(run.low) &&
        pointer.value < static_cast<double>(run.high))
      return &run;
  return nullptr;
}

std::string run_words(const Document& document, const AllocationStack& stack, const StackedRun& run) {
  const std::string bytes = bytes_text(run.high - run.low);
  if (run.of == StackedRun::Of::before)
    return bytes + " allocated before " + recorded_part(document.trace) + " and not freed in it";
  if (run.of == StackedRun::Of::rest)
    return bytes + " in smaller allocations: of this time the " + format_count(static_cast<std::int64_t>(stack.bands.size())) +
           " largest are shown separately, " + format_count(static_cast<std::int64_t>(stack.others)) +
           (stack.others == 1 ? " is not" : " are not");
  const Allocation& allocation = stack.bands[run.allocation];
  const std::optional<SourcePlace> place = source_place(frame_of(document, allocation));
  return allocation_words(document, allocation) + (place ? "\n" + printable(place_text(*place)) : "") + "\n" +
         allocation_time_words(document, allocation);
}

// From 1 on; 0: it is none of them.
std::uint32_t place_among(const std::vector<Allocation>& chosen, const Allocation& allocation) {
  const auto at = std::lower_bound(chosen.begin(), chosen.end(), allocation,
                                   [](const Allocation& a, const Allocation& b) { return a.record() < b.record(); });
  const bool found = at != chosen.end() && at->record() == allocation.record();
  return found ? static_cast<std::uint32_t>(at - chosen.begin()) + 1 : 0;
}

// In the first frames there is none yet; it follows the zoom as the answers come.
void draw_stacked(const Document& document, const MemoryDevice& device, TraceView& view, const WindowState& window,
                  Requests& out) {
  const Theme& theme = theme_of(window);
  const Span whole = document.trace.span, span = shown_span(document, view);
  const float width = line_width();
  ask(document, AllocationsQuestion{device.device_type, device.device, span, static_cast<std::uint32_t>(std::max(width, 1.0f))},
      out);
  const auto stack = answer_to<AllocationsQuestion>(document);
  if (!stack) return draw_absence(window, "Stacking the allocations...");
  if (!stack->states_addresses)
    return draw_absence(window, "No addresses were recorded for this memory, so single allocations are unknown. See Total.");
  const Rgb rest = blend(theme.muted, theme.background, 0.3f), before = theme.line;
  const bool has_before = !stack->runs.empty() && stack->runs.front().of == StackedRun::Of::before;
  const std::int64_t from_before = has_before ? stack->runs.front().high : 0;  // all the time
  const bool has_rest = !stack->runs.empty() && stack->runs.back().of == StackedRun::Of::rest;
  const auto legend = [&](Rgb colour, const char* words) {
    make_room(words, window);
    draw_legend(colour, words, window);
    ImGui::SameLine(0, 14 * window.frame.scale);
  };
  bool& with_before = view.memory.with_before;
  if (has_before) {
    const std::string words = "with " + bytes_text(from_before) + " from before";
    make_room(words, window);
    if (with_before) {
      draw_legend(before, "", window);
      ImGui::SameLine(0, 0);
    }
    draw_checkbox(words.c_str(), &with_before);
    draw_hover("Allocated before " + recorded_part(document.trace) +
               ", and not freed in it. Without it the axis begins there.");
    ImGui::SameLine(0, 14 * window.frame.scale);
  }
  const std::int64_t base = with_before ? 0 : from_before;
  if (has_rest) legend(rest, "smaller ones");
  ImGui::NewLine();
  const auto begin_of = [&](std::uint32_t column) { return begin_of_column(stack->span, stack->columns, column); };
  std::vector<ChartBlock> blocks;
  for (std::uint32_t c = 0; c < stack->tops.size();) {  // under all: what is too small to be drawn by itself
    const std::uint32_t first = c;
    while (c < stack->tops.size() && stack->tops[c] == stack->tops[first]) ++c;
    blocks.push_back({rest, begin_of(first), begin_of(c), 0, static_cast<double>(stack->tops[first] - base)});
  }
  std::vector<Rgb> colours;
  for (const Allocation& band : stack->bands) colours.push_back(band_colour(document, band, window));
  const std::vector<Allocation>& chosen = view.memory.chosen;
  std::vector<std::uint32_t> outlined;  // of each band
  for (const Allocation& band : stack->bands) outlined.push_back(place_among(chosen, band));
  for (const StackedRun& run : stack->runs) {
    if (run.of == StackedRun::Of::rest || (run.of == StackedRun::Of::before && !with_before)) continue;
    const bool is_band = run.of == StackedRun::Of::allocation;
    blocks.push_back({is_band ? colours[run.allocation] : before, begin_of(run.first), begin_of(run.last),
                      static_cast<double>(run.low - base), static_cast<double>(run.high - base),
                      is_band ? outlined[run.allocation] : 0});
  }
  const float height =
      std::max(ImGui::GetContentRegionAvail().y - ImGui::GetTextLineHeightWithSpacing() * kLinesBelow, 80 * window.frame.scale);
  const auto pointer = draw_blocks({"stack",
                                    {width, height},
                                    "",
                                    format_duration(span.begin - whole.begin),
                                    format_duration(span.end - whole.begin),
                                    bytes_text(stack->most),
                                    base > 0 ? bytes_text(base) : "0"},
                                   blocks, span, static_cast<double>(stack->most - base), window);
  const StackedRun* run =
      pointer ? run_at(*stack, {pointer->time, pointer->value + static_cast<double>(base), pointer->clicked}) : nullptr;
  if (run) {
    draw_tooltip(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), run_words(document, *stack, *run));
    if (pointer->clicked && run->of == StackedRun::Of::allocation) {
      view.memory.chosen = {stack->bands[run->allocation]};
      if (const SliceId by = asked_by(document, stack->bands[run->allocation])) select_slice(view, by, /*reveal=*/true);
    }
  }
  draw_chosen(document, view, window, out);
}

// Of the marked range, where one is: null until it is added up.
const MemoryUse* use_shown(const Document& document, const MemoryUse& whole, const TraceView& view, Requests& out) {
  if (!view.range) return &whole;
  ask(document, MemoryQuestion{*view.range}, out);
  const auto& found = answer_to<MemoryQuestion>(document);
  return found ? &found->use : nullptr;
}

const MemoryDevice* same_device(const MemoryUse& use, const MemoryDevice& device) {
  for (const MemoryDevice& d : use.devices)
    if (d.device_type == device.device_type && d.device == device.device) return &d;
  return nullptr;
}

}  // namespace

void draw_memory(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  const TraceSession* facts = document.analysis();
  if (!facts) return draw_working(document, window, "the memory", out);
  const MemoryUse& use = facts->memory();
  if (use.devices.empty()) return draw_absence(window, no_memory_words(document.trace));
  if (draw_trouble<MemoryQuestion>(document, window) || draw_trouble<AllocationsQuestion>(document, window) ||
      draw_trouble<HeldQuestion>(document, window))
    return;
  view.memory.device = std::min(view.memory.device, use.devices.size() - 1);
  draw_devices(document, use, view, window);
  const MemoryDevice& device = use.devices[view.memory.device];
  const MemoryUse* shown = use_shown(document, use, view, out);
  const MemoryDevice* shown_device = shown ? same_device(*shown, device) : nullptr;
  const bool has_peak = shown_device && !shown_device->points.empty();
  if (has_peak) draw_peak(document, *shown_device, view.range, window);
  const float whole = ImGui::GetContentRegionAvail().x;
  const float gap = 16 * window.frame.scale;
  const float right =
      std::round(std::clamp(whole - gap - kTableWidth * window.frame.scale, whole * kLeastCurve, whole * kCurveShare));
  ImGui::BeginChild("who", {whole - right - gap, 0});
  const bool of_peak = view.memory.list == MemoryState::List::held;
  if (shown && of_peak && has_peak) draw_holders(document, *shown_device, view, window, out);
  if (shown && !(of_peak && has_peak)) draw_operators(document, view, window, *shown, device, out);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("memory", {right, 0});
  draw_shapes(view, window);
  const bool stacked = view.memory.shape == MemoryState::Shape::stack;
  if (!device.points.empty() && stacked) draw_stacked(document, device, view, window, out);
  if (!device.points.empty() && !stacked) draw_curve(document, device, view, window);
  if (has_peak) draw_peak_stack(document, *shown_device, view, window);
  ImGui::EndChild();
}

}  // namespace gapscope
