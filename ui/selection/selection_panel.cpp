// The tab "Selection": what is in the marked area or in the time selected in the ruler, over
// core/view/selection/area_model.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/analyze/counters/counter_words.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/selection/area_model.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kFilterWidth = 200;  // px at scale 1
constexpr float kFactGap = 20;

constexpr std::array<Choice, 4> kTables = {{
    {"By name", "One row per name."},
    {"By category", "One row per category of the file (cpu_op, kernel, ...)."},
    {"By lane", "One row per lane."},
    {"Annotations", "Steps and named ranges of the program, around the work in the other tables."},
}};

struct SelectionPanel : PanelOf<AreaState> {
  const std::shared_ptr<const AreaStats>& answer() const { return answer_to<AreaQuestion>(document); }
  const AreaStats& stats() const { return *answer(); }
};

// One figure of the head line, after the one before it.
void fact(const SelectionPanel& panel, const std::string& value, std::string_view words, const std::string& hover,
          bool first = false) {
  const float between = 5 * panel.window.frame.scale;
  if (!first)
    go_on(text_width(Face::mono, value) + between + text_width(Face::sans, words), kFactGap * panel.window.frame.scale);
  ImGui::BeginGroup();
  draw_text(Face::mono, panel.theme.text, value);
  ImGui::SameLine(0, between);
  draw_text(Face::sans, panel.theme.muted, words);
  ImGui::EndGroup();
  draw_hover(hover);
}

std::string plural(std::uint64_t n, const char* one, const char* many) { return n == 1 ? one : many; }

void draw_gaps(SelectionPanel& panel, const AreaGpu& gpu) {
  fact(panel, format_count(static_cast<std::int64_t>(gpu.gaps)), plural(gpu.gaps, "gap", "gaps"),
       "Idle times of a GPU, cut at the edges of the area.");
  if (gpu.gaps == 0) return;
  const std::string longest = "longest " + format_duration(gpu.longest.length());
  go_on(text_width(Face::sans, longest), kFactGap * panel.window.frame.scale);
  if (draw_link(Face::sans, panel.theme.accent, longest)) {
    panel.view.selection = {};
    panel.view.signals.reveal_lane = gpu.longest_lane;
    go_to(panel.view, panel.window, focused_on(gpu.longest, panel.document.trace.span));
  }
  draw_hover("Go there: " + range_text(panel.document.trace, gpu.longest) + " after the start.");
}

// What the GPUs' counters say of the area's time, whatever runs in it.
void draw_counter_facts(SelectionPanel& panel, const AreaStats& stats) {
  if (!panel.document.analysis()) return;
  const std::vector<DeviceCounters>& devices = panel.document.analysis()->counters().devices();
  for (const DeviceCounters& device : devices) {
    const CounterMeans means = device.over(stats.area.span);
    const std::string who = devices.size() > 1 ? fmt::format("GPU {} ", device.device()) : "";
    const std::string of = fmt::format("Mean of {} over the area's time, with idle time.", samples_text(means));
    bool first = true;  // of its line
    const auto show_mean = [&](const std::string& value, const char* words, const std::string& hover) {
      fact(panel, value, who + words, hover, std::exchange(first, false));
    };
    const auto share = [&](CounterKind kind, const char* words) {
      if (means.knows(kind)) show_mean(fmt::format("{:.1f} %", means[kind]), words, of);
    };
    if (!means.measured()) {
      show_mean("-", "counters: too short to measure", of);
      continue;
    }
    share(CounterKind::sm_active, "SM active");
    share(CounterKind::tensor, "tensor pipe");
    share(CounterKind::dram_share, "DRAM of peak");
    if (!std::isnan(means.joules))
      show_mean(format_significant(means.joules) + " J", "energy", "Power times time, as the driver reports it.");
  }
}

void draw_gpu_facts(SelectionPanel& panel, const AreaStats& stats) {
  const AreaGpu& gpu = stats.gpu;
  if (gpu.devices == 0) return fact(panel, "-", "GPU", "No GPU lane in this trace.");
  const std::string of =
      std::string(gpu.in_area ? "Of the GPU lanes in the area" : "Of all GPU lanes in this time: the area itself has none") +
      (gpu.devices > 1 ? fmt::format(", over {} GPUs.", gpu.devices) : ".");
  const Ns whole = gpu.busy + gpu.idle;
  const double share = whole > 0 ? static_cast<double>(gpu.busy) / static_cast<double>(whole) : 0;
  fact(panel, format_percent(share), gpu.in_area ? "GPU busy" : "GPU busy meanwhile",
       of + " Kernels, copies and memsets. Overlaps count once: " + format_duration(gpu.busy) + ".");
  fact(panel, format_duration(gpu.idle), "idle", of + " " + format_duration_exact(gpu.idle) + " idle.");
  draw_gaps(panel, gpu);
}

void draw_facts(SelectionPanel& panel) {
  const AreaStats& stats = panel.stats();
  const Ns length = stats.area.span.length();
  fact(panel, format_duration(length), "selected",
       format_duration_exact(length) + ", " + range_text(panel.document.trace, stats.area.span) + " after the start.", true);
  fact(panel, format_count(static_cast<std::int64_t>(stats.slices)), plural(stats.slices, "slice", "slices"),
       "Slices that are at least partly in the area.");
  if (stats.annotations > 0)
    fact(panel, format_count(static_cast<std::int64_t>(stats.annotations)),
         plural(stats.annotations, "annotation", "annotations"), "Steps and named ranges around them, counted separately.");
  fact(panel, fmt::format("{} of {}", stats.area.lanes.size(), panel.document.trace.lanes.size()), "lanes",
       "Lanes in the area, also those without slices in this time.");
  draw_gpu_facts(panel, stats);
  draw_counter_facts(panel, stats);
}

void draw_actions(SelectionPanel& panel) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const float buttons = ImGui::CalcTextSize("Copy CSVSave CSVClear").x + style.FramePadding.x * 6 + style.ItemSpacing.x * 2;
  const std::string_view note = "Times are cut at the edges of the area.";
  if (ImGui::GetContentRegionAvail().x > buttons + style.ItemSpacing.x * 2 + text_width(Face::sans, note)) {
    draw_text(Face::sans, panel.theme.muted, note);
    ImGui::SameLine();
  }
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, ImGui::GetContentRegionAvail().x - buttons));
  const bool copy = ImGui::Button("Copy CSV");
  draw_hover("Copy the rows below as CSV, in nanoseconds.");
  ImGui::SameLine();
  const bool save = ImGui::Button("Save CSV");
  draw_hover("Save the rows below as CSV next to the trace.");
  ImGui::SameLine();
  if (ImGui::Button("Clear")) clear_area(panel.view);
  draw_hover("Mark nothing (Esc).");
  if (!copy && !save) return;
  arrange_area(panel.document.trace, panel.answer(), panel.state);
  std::string text = csv_of(area_rows({panel.document.trace, panel.stats(), panel.state.table}), panel.state.arranged.rows,
                            CsvHeads::titles_with_units);
  if (copy)
    panel.out.add(CopyText{std::move(text)});
  else
    panel.out.add(SaveText{".selection.csv", std::move(text)});
}

void draw_toolbar(SelectionPanel& panel) {
  ImGui::SetNextItemWidth(kFilterWidth * panel.window.frame.scale);
  text_field("##filter", "filter", panel.state.look.filter);
  draw_hover("Show only rows whose name contains this.");
  ImGui::SameLine();
  panel.state.table =
      static_cast<AreaTable>(draw_choice("table", kTables, static_cast<std::size_t>(panel.state.table), panel.window));
  ImGui::SameLine();
  draw_actions(panel);
}

void draw_rows(SelectionPanel& panel) {
  AreaState& state = panel.state;
  const std::shared_ptr<const AreaStats> stats = panel.answer();
  const Trace& trace = panel.document.trace;
  const std::vector<std::uint32_t>& rows = state.arranged.rows;
  const std::vector<AreaRow>& all = rows_of(*stats, state.table);
  const AreaRows table = area_rows({trace, *stats, state.table, &panel.document.names});
  ColumnGrid grid{"selection", table, rows, state.look};
  grid.noun = "rows";
  for (const std::uint32_t row : rows)
    if (state.selected && all[row].key == *state.selected) grid.selected = row;
  const GridClick click = draw_column_grid(grid, panel.window);
  const auto name_at = [&](std::uint32_t row) { return row_name(trace, state.table, all[row]); };
  const auto slices_at = [&](std::uint32_t row) { return slices_of_row(panel.document, stats->area, state.table, all[row]); };
  if (const std::optional<std::size_t> at = draw_row_menu_for(click, rows.size())) {
    const std::uint32_t row = rows[*at];
    draw_row_menu({name_at(row), all[row].count}, panel.document, panel.view, panel.window, panel.out,
                  [&] { return list_of_slices(trace, name_at(row), slices_at(row)); });
  }
  if (click.row < 0) return;
  const std::uint32_t row = rows[static_cast<std::size_t>(click.row)];
  state.selected = all[row].key;
  walk_cycle(panel.view, {name_at(row), slices_at(row)});
}

}  // namespace

void draw_selection(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "what is in the area follows")) return;
  const std::optional<Area> area = shown_area(document.trace, view);
  if (!area)
    return draw_absence(window,
                        "Nothing is marked. Drag over the lanes to mark a time on some of them, or in the ruler for all "
                        "lanes; R marks the selected slice, Ctrl+A everything.");
  SelectionPanel panel{{document, view, window, out, view.area}};
  ask(document, AreaQuestion{*area}, out);
  if (draw_trouble<AreaQuestion>(document, window)) return;
  if (!panel.answer()) return draw_absence(window, "Adding up the area...");
  arrange_area(document.trace, panel.answer(), view.area);
  draw_facts(panel);
  draw_toolbar(panel);
  arrange_area(document.trace, panel.answer(), view.area);
  if (panel.stats().slices + panel.stats().annotations == 0) return draw_absence(window, "This area has no slices.");
  draw_rows(panel);
}

}  // namespace gapscope
