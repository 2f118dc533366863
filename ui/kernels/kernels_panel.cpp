// The tab "Kernels": GPU work by name, and for the chosen one what its name shows, how its durations spread and what
// limits it. Over core/view/kernels/kernels_model.h.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/analyze/gpu/kernel_columns.h"
#include "core/analyze/gpu/occupancy.h"
#include "core/analyze/gpu/occupancy_amd.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/analyze/practices/practices.h"
#include "core/base/demangle.h"
#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/view/details/details_gpu.h"
#include "core/view/document.h"
#include "core/view/sql/sql_examples.h"
#include "core/view/timeline/first_view.h"
#include "ui/panels.h"
#include "ui/widgets/charts.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kFilterWidth = 280, kChartHeight = 130;  // px at scale 1
constexpr float kSideShare = 0.38f, kSideLeast = 380;    // for the chosen kernel: of the panel's width, and px at scale 1

using KernelsPanel = PanelOf<KernelsState>;

const KernelRow* selected_row(const KernelsState& state) {
  if (!state.arranged.whole) return nullptr;
  for (const KernelRow& row : state.arranged.table().rows)
    if (row.name == state.selected) return &row;
  return nullptr;
}

// A kernel selected elsewhere is the chosen one here.
void follow_selection(KernelsPanel& panel) {
  const SliceId selection = panel.view.selection;
  if (panel.state.followed == selection) return;
  panel.state.followed = selection;
  const Trace& trace = panel.document.trace;
  if (!selection || !is_gpu_work(trace.kind(selection)) || trace.name_id(selection) == panel.state.selected) return;
  panel.state.selected = trace.name_id(selection);
  panel.state.what_if = {};
}

KernelRows shown_table(const KernelsPanel& panel) {
  return kernel_rows(panel.state.arranged.table(), {panel.document.trace, &panel.document.links});
}

// Brings what is drawn up to date.
void bring_up_to_date(KernelsPanel& panel) {
  KernelsState& state = panel.state;
  KernelsState::Arranged& made = state.arranged;
  const KernelTable& whole = panel.document.analysis()->kernels();
  if (panel.view.range) ask(panel.document, KernelsQuestion{*panel.view.range}, panel.out);
  const std::shared_ptr<const KernelsAnswer> of_range = panel.view.range ? answer_to<KernelsQuestion>(panel.document) : nullptr;
  const bool other_rows = made.whole != &whole || made.of_range != of_range;
  if (other_rows) {
    made.whole = &whole;
    made.of_range = of_range;
    made.called = {};
  }
  if (other_rows || made.look != state.look) {
    made.look = state.look;
    made.rows = arrange(shown_table(panel), state.look);
  }
  if (made.called != state.selected) {
    made.called = state.selected;
    made.calls = state.selected ? kernel_calls(panel.document.trace, panel.document.names.slices_named(state.selected),
                                               state.selected, made.range())
                                : KernelCalls{};
  }
}

// The longest run of a kernel; if a run of it is selected, the next.
void choose(KernelsPanel& panel, std::uint32_t row) {
  const SliceId longest = panel.state.arranged.table().rows[row].longest;
  panel.state.selected = panel.state.arranged.table().rows[row].name;
  panel.state.what_if = {};
  bring_up_to_date(panel);
  const Trace& trace = panel.document.trace;
  SliceCycle runs{kernel_title(trace.strings[panel.state.selected]), panel.state.arranged.calls.slices};
  if (panel.view.selection && is_gpu_work(trace.kind(panel.view.selection)) &&
      trace.name_id(panel.view.selection) == panel.state.selected)
    return walk_cycle(panel.view, std::move(runs));
  panel.view.cycle = std::move(runs);
  select_slice(panel.view, longest, /*reveal=*/true);
  enlarge(panel.view, panel.window, trace.span_of(longest), trace);
}

void draw_rows(KernelsPanel& panel, float width) {
  const KernelsState::Arranged& shown = panel.state.arranged;
  const std::vector<KernelRow>& rows = shown.table().rows;
  const Trace& trace = panel.document.trace;
  const KernelRows table = shown_table(panel);
  ColumnGrid grid{"kernels", table, shown.rows, panel.state.look};
  grid.noun = "names";
  grid.width_px = width;
  if (const KernelRow* row = selected_row(panel.state)) grid.selected = static_cast<std::uint32_t>(row - rows.data());
  const GridClick click = draw_column_grid(grid, panel.window);
  if (click.row >= 0) choose(panel, shown.rows[static_cast<std::size_t>(click.row)]);
  if (const std::optional<std::size_t> at = draw_row_menu_for(click, shown.rows.size())) {
    const KernelRow& row = rows[shown.rows[*at]];
    draw_row_menu({std::string(trace.strings[row.name]), static_cast<std::uint64_t>(row.count)}, panel.document, panel.view,
                  panel.window, panel.out, [&] {
                    return list_of_slices(
                        trace, kernel_title(trace.strings[row.name]),
                        kernel_calls(trace, panel.document.names.slices_named(row.name), row.name, shown.range()).slices);
                  });
  }
}

void draw_field(const Theme& theme, std::string_view key, std::string_view value, std::string_view hover) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  draw_text(Face::sans, theme.muted, key);
  draw_hover(hover);
  ImGui::TableNextColumn();
  draw_text(Face::mono, theme.text, value, /*wrap=*/true);
  draw_hover(hover);
}

void draw_decoded(KernelsPanel& panel, const KernelRow& row) {
  if (!ImGui::BeginTable("decoded", 2, ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingStretchProp)) return;
  ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, text_width(Face::sans, "shared memory  "));
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  for (const KernelFieldValue& field : decoded_fields(row.decoded))
    draw_field(panel.theme, in_words_of(panel.document.vendor, field_name(field.field)), field.value, explain(field.field));
  for (const DetailsLine& line : other_args(panel.document, row.example))
    draw_field(panel.theme, line.key, line.value, "Of the first of its calls that states a launch shape.");
  draw_field(panel.theme, "launched by", operators_text(row), "Operators, most frequent first.");
  const CallPlace place = place_of_kernel(panel.document.trace, panel.document.links, row);
  if (!place.module.empty()) draw_field(panel.theme, "module", printable(place.module), "Of its longest run.");
  if (!place.python.empty()) draw_field(panel.theme, "python", printable(place.python), "The line of its longest run.");
  ImGui::EndTable();
}

void draw_occupancy(KernelsPanel& panel, const KernelRow& row) {
  if (row.kind != Kind::kernel) return;
  const Theme& theme = panel.theme;
  draw_text(Face::bold, theme.text, "Occupancy");
  const GpuRow& example = row.example;
  const DeviceProperties* device = panel.document.trace.device(example.device);
  const std::optional<SmLimits> sm = device ? sm_limits(*device) : std::nullopt;
  if (!example.has_launch_config()) return draw_absence(panel.window, "The file states no launch shape for this kernel.");
  if (!sm)
    return draw_absence(panel.window,
                        "The limits of this GPU are unknown. Known are NVIDIA GPUs from Volta on, and AMD's CDNA.");
  BlockNeeds needs = needs_of(example);
  WhatIf& what = panel.state.what_if;
  int threads = what.threads > 0 ? what.threads : static_cast<int>(needs.threads);
  int registers = what.registers > 0 ? what.registers : static_cast<int>(needs.registers);
  int shared = what.open ? what.shared_kb : static_cast<int>((needs.shared_memory + 1023) / 1024);
  ImGui::PushItemWidth(ImGui::GetContentRegionAvail().x * 0.55f);
  bool moved = ImGui::SliderInt(is_amd(*sm) ? "threads per workgroup" : "threads per block", &threads, 32, 1024);
  moved |= ImGui::SliderInt(is_amd(*sm) ? "VGPRs per thread" : "registers per thread", &registers, 16, is_amd(*sm) ? 512 : 255);
  moved |= ImGui::SliderInt(is_amd(*sm) ? "KB LDS" : "KB shared memory", &shared, 0, is_amd(*sm) ? 160 : 228);
  ImGui::PopItemWidth();
  if (moved) what = {threads, registers, shared, true};
  const bool changed = what.open;
  if (changed) needs = {threads, registers, static_cast<std::int64_t>(shared) * 1024};
  const std::optional<Occupancy> result = occupancy(*sm, needs);
  if (!result) return draw_absence(panel.window, "No such block fits on this GPU.");
  const std::string text = occupancy_words(*sm, needs, grid_blocks(example));
  draw_text(Face::sans, changed ? theme.notable : theme.text, (changed ? "what if: " : "") + text, /*wrap=*/true);
  const std::string blocks =
      std::to_string(result->active_blocks) + (is_amd(*sm) ? " workgroup" : " block") + (result->active_blocks == 1 ? "" : "s");
  draw_text(Face::sans, theme.muted,
            (is_amd(*sm) ? "A CU holds " : "An SM holds ") + blocks + ": " + std::to_string(result->active_warps) + " of " +
                std::to_string(result->max_warps) + (is_amd(*sm) ? " waves, limited by " : " warps, limited by ") +
                limiter_text(*sm, result->limiters),
            /*wrap=*/true);
  if (example.occupancy_percent == 0 && needs_of(example).shared_memory > sm->default_block_memory)
    draw_absence(panel.window, "The trace says 0 %: the profiler computes it with a limit of 48 KB of shared memory.");
  if (changed && ImGui::Button("Reset")) what = {};
}

void draw_charts(KernelsPanel& panel) {
  const KernelCalls& calls = panel.state.arranged.calls;
  const Trace& trace = panel.document.trace;
  if (calls.slices.empty()) return;
  const float gap = 12 * panel.window.frame.scale;
  const ImVec2 size{(ImGui::GetContentRegionAvail().x - gap) / 2, kChartHeight * panel.window.frame.scale};
  const SliceId chosen = panel.view.selection;
  const bool own = chosen.valid() && trace.name_id(chosen) == panel.state.arranged.called;
  const auto& edges = calls.histogram.edges;
  const auto edge_text = [&](std::size_t i) { return format_duration(static_cast<Ns>(edges[i] + 0.5)); };
  draw_bars({"histogram", size, "durations", edge_text(0), edge_text(edges.size() - 1)}, calls.histogram.counts,
            own ? bin_of(calls.histogram, trace.duration(chosen)) : std::nullopt, panel.window, [&](std::size_t i) {
              return edge_text(i) + " to " + edge_text(i + 1) + ": " +
                     format_count(static_cast<std::int64_t>(calls.histogram.counts[i])) + " runs";
            });
  ImGui::SameLine(0, gap);
  const Span span = panel.view.range.value_or(trace.span);
  const auto point = [&](std::size_t i) {
    const SliceId s = calls.slices[i];
    return ChartPoint{trace.begin(s), static_cast<double>(trace.duration(s))};
  };
  const std::optional<ChartPoint> mark =
      own ? std::optional(ChartPoint{trace.begin(chosen), static_cast<double>(trace.duration(chosen))}) : std::nullopt;
  const auto pointer = draw_dots({"scatter", size, "over time, up to " + format_duration(calls.longest), "", ""},
                                 calls.slices.size(), span, static_cast<double>(calls.longest), point, mark, panel.window);
  if (pointer && pointer->clicked) {
    const auto after = std::lower_bound(calls.slices.begin(), calls.slices.end(), pointer->time,
                                        [&](SliceId s, Ns t) { return trace.begin(s) < t; });
    SliceId nearest = after == calls.slices.end() ? calls.slices.back() : *after;
    if (after != calls.slices.begin() && pointer->time - trace.begin(*(after - 1)) < trace.begin(nearest) - pointer->time)
      nearest = *(after - 1);
    select_slice(panel.view, nearest, /*reveal=*/true);
  }
}

void draw_chosen(KernelsPanel& panel) {
  const KernelRow* row = selected_row(panel.state);
  if (!row) return;
  const std::string whole = demangle(panel.document.trace.strings[row->name]);
  draw_text(Face::mono, panel.theme.text, printable(kernel_title(panel.document.trace.strings[row->name])), /*wrap=*/true);
  draw_hover(whole);
  ImGui::Spacing();
  draw_charts(panel);
  ImGui::Spacing();
  draw_decoded(panel, *row);
  ImGui::Spacing();
  draw_occupancy(panel, *row);
}

void draw_toolbar(KernelsPanel& panel) {
  ImGui::SetNextItemWidth(kFilterWidth * panel.window.frame.scale);
  text_field("##filter", "filter names, kinds, operators", panel.state.look.filter);
  if (panel.state.arranged.whole) {
    ImGui::SameLine();
    draw_columns_menu(shown_table(panel), panel.state.look, panel.window);
  }
  ImGui::SameLine();
  draw_range_chip(panel.document, panel.view, panel.window);
  if (panel.view.range) ImGui::SameLine();
  if (ImGui::Button("As SQL")) open_as_sql(panel.window, kKernelsAsSql);
  draw_hover("Show the query that gives these rows, of the whole trace.");
  ImGui::SameLine();
  draw_csv_buttons(
      ".kernels.csv",
      [&] {
        const KernelsState::Arranged& shown = panel.state.arranged;
        return shown.whole ? csv_of(shown_table(panel), shown.rows, CsvHeads::titles) : std::string();
      },
      panel.out);
}

}  // namespace

void draw_kernels(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  const TraceSession* facts = document.analysis();
  if (!facts) return draw_working(document, window, "the kernels", out);
  if (!facts->kernels().trace_has_gpu_work) return draw_absence(window, document.trace.producer->no_gpu_work);
  KernelsPanel panel{document, view, window, out, view.kernels};
  draw_toolbar(panel);
  follow_selection(panel);
  bring_up_to_date(panel);
  if (view.range && draw_trouble<KernelsQuestion>(document, window)) return;
  if (panel.state.arranged.table().rows.empty()) return draw_absence(window, "No GPU work begins in this range.");
  if (!selected_row(panel.state)) return draw_rows(panel, 0);
  const float whole = ImGui::GetContentRegionAvail().x;
  const float side = std::max(std::round(whole * kSideShare), std::min(kSideLeast * window.frame.scale, whole / 2));
  const float gap = 12 * window.frame.scale;
  ImGui::BeginChild("names", {whole - side - gap, 0});
  draw_rows(panel, ImGui::GetContentRegionAvail().x);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("chosen", {side, 0});
  draw_chosen(panel);
  ImGui::EndChild();
}

}  // namespace gapscope
