// The tab "GPU": figures of each device with their definitions, and the idle gaps with what caused them.
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/analyze/practices/practices.h"
#include "core/base/demangle.h"
#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/slice_colour.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/widgets/account_bar.h"
#include "ui/widgets/charts.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kFiguresShare = 0.42f;
constexpr float kFiguresMost = 440;  // px at scale 1
constexpr std::size_t kAccountParts = 16;
constexpr float kButtonsWidth = 170;  // px at scale 1, of those of CSV

std::string share_text(const std::optional<double>& share) { return share ? format_percent(*share) : "not recorded"; }
std::string part_text(Ns part, Ns whole) {
  if (whole <= 0) return format_duration(part);
  std::string share = format_percent(static_cast<double>(part) / static_cast<double>(whole));
  share.insert(0, std::max<std::size_t>(share.size(), 7) - share.size(), ' ');  // in a mono face: one under the other
  return format_duration(part) + "  " + share;
}
const GpuTimeline& timeline_of(const GpuActivity& a) { return a.any_linked ? a.linked : a.all; }

struct Figure {
  const char* title;
  const char* help;
  std::string (*value)(const GpuActivity&);
};

constexpr std::array<Figure, 12> kFigures = {{
    {"utilization of steps", "Share of the steps' time in which a kernel runs (TensorBoard plugin).",
     [](const GpuActivity& a) { return share_text(a.figures.utilization); }},
    {"est. SM efficiency", "Mean over time of min(1, blocks per SM of the kernels that run) (TensorBoard plugin).",
     [](const GpuActivity& a) { return share_text(a.figures.sm_efficiency); }},
    {"est. achieved occupancy", "Mean over kernel time of the occupancy that the profiler estimates (TensorBoard plugin).",
     [](const GpuActivity& a) {
       const auto& v = a.figures.achieved_occupancy_percent;
       return v ? format_percent(*v / 100) : std::string("not recorded");
     }},
    {"of its time span", "From the start of its first to the end of its last GPU work.",
     [](const GpuActivity& a) { return format_duration(timeline_of(a).total); }},
    {"  compute", "Kernels other than communication, and memsets. Overlaps count once.",
     [](const GpuActivity& a) { return part_text(timeline_of(a).compute, timeline_of(a).total); }},
    {"  communication", "Kernels that move data between GPUs.",
     [](const GpuActivity& a) { return part_text(timeline_of(a).communication, timeline_of(a).total); }},
    {"    exposed", "Communication while nothing computes.",
     [](const GpuActivity& a) { return part_text(timeline_of(a).exposed_communication, timeline_of(a).total); }},
    {"  copies", "Memory transfers.",
     [](const GpuActivity& a) { return part_text(timeline_of(a).copy, timeline_of(a).total); }},
    {"    exposed", "Copies while nothing computes or communicates.",
     [](const GpuActivity& a) { return part_text(timeline_of(a).exposed_copy, timeline_of(a).total); }},
    {"  idle", "Nothing runs between its first and its last work.",
     [](const GpuActivity& a) { return part_text(timeline_of(a).idle, timeline_of(a).total); }},
    {"unlinked work", "GPU work whose launch is not in the file. The figures above leave it out if other work is linked.",
     [](const GpuActivity& a) {
       return a.unlinked_count == 0
                  ? std::string("none")
                  : format_count(static_cast<std::int64_t>(a.unlinked_count)) + "  " + format_duration(a.unlinked_time);
     }},
    {"busy", "Any GPU work runs, also unlinked work.", [](const GpuActivity& a) { return part_text(a.all.busy, a.all.total); }},
}};

struct Part {
  const char* title;
  Hue hue;
  Ns GpuTimeline::*time;
};
// What a device's time span is made of, exactly.
constexpr std::array<Part, 4> kParts = {{
    {"compute", Hue::gemm, &GpuTimeline::compute},
    {"exposed communication", Hue::collective, &GpuTimeline::exposed_communication},
    {"exposed copies", Hue::copy, &GpuTimeline::exposed_copy},
    {"idle", Hue::python, &GpuTimeline::idle},
}};

void draw_parts(const GpuActivity& device, const WindowState& window) {
  Painter painter(*ImGui::GetWindowDrawList(), window.frame.scale);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const Box box{at.x, at.y + painter.px(2), at.x + width, at.y + painter.px(16)};
  ImGui::Dummy({width, painter.px(18)});
  const GpuTimeline& timeline = timeline_of(device);
  std::array<BarPart, kParts.size()> parts;
  for (std::size_t i = 0; i < kParts.size(); ++i)
    parts[i] = {paint_of(window.settings.slice_colours, kParts[i].hue, 1).fill,
                static_cast<double>(timeline.*kParts[i].time) / static_cast<double>(std::max<Ns>(timeline.total, 1))};
  const std::optional<std::size_t> under = draw_stack(painter, box, parts);
  if (under && ImGui::IsWindowHovered())
    draw_tooltip({box.x0, box.y0}, {box.x1, box.y1},
                 kParts[*under].title + (": " + part_text(timeline.*kParts[*under].time, timeline.total)));
}

std::string device_title(const Trace& trace, std::int32_t device) {
  const DeviceProperties* properties = trace.device(device);
  return "GPU " + std::to_string(device) + (properties ? "  " + properties->name : "");
}

void draw_figures(const Document& document, const GpuUsage& facts, const WindowState& window) {
  const Theme& theme = theme_of(window);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ImGui::GetStyle().CellPadding.x, window.frame.scale});
  const int columns = static_cast<int>(facts.devices.size()) + 1;
  const bool open = ImGui::BeginTable("figures", columns, ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingStretchSame);
  ImGui::PopStyleVar();
  if (!open) return;
  ImGui::TableSetupColumn("figure", ImGuiTableColumnFlags_WidthFixed, text_width(Face::sans, "est. achieved occupancy "));
  for (const GpuActivity& device : facts.devices) ImGui::TableSetupColumn(std::to_string(device.device).c_str());
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  for (const GpuActivity& device : facts.devices) {
    ImGui::TableNextColumn();
    const std::string title = device_title(document.trace, device.device);
    if (text_width(Face::bold, title) < ImGui::GetContentRegionAvail().x)
      draw_text_right(Face::bold, theme.text, title);
    else
      draw_text(Face::bold, theme.text, title, /*wrap=*/true);
    draw_parts(device, window);
  }
  for (const Figure& figure : kFigures) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const std::string help = in_words_of(document.vendor, figure.help);
    draw_text(Face::sans, theme.muted, in_words_of(document.vendor, figure.title));
    draw_hover(help);
    for (const GpuActivity& device : facts.devices) {
      ImGui::TableNextColumn();
      const std::string value = figure.value(device);
      const bool absent = value == "not recorded" || value == "none";
      draw_text_right(absent ? Face::sans : Face::mono, absent ? theme.muted : theme.text, value);
      draw_hover(help);
    }
  }
  ImGui::EndTable();
}

// Of the selected time: what is known of any stretch, and its account.
void draw_figures_of_range(const Document& document, const GpuUsage& facts, TraceView& view, const WindowState& window) {
  const Theme& theme = theme_of(window);
  const Span range = intersect(*view.range, document.trace.span);
  draw_range_chip(document, view, window);
  for (std::size_t i = 0; i < facts.devices.size() && i < facts.series.size(); ++i) {
    draw_text(Face::bold, theme.text, device_title(document.trace, facts.devices[i].device));
    const auto line = [&](const char* title, const char* help, const std::string& value) {
      draw_text(Face::sans, theme.muted, title);
      draw_hover(help);
      ImGui::SameLine();
      draw_text_right(Face::mono, theme.text, value);
    };
    const GpuSeries& series = facts.series[i];
    line("utilization", "Share of the selected time in which a kernel runs.", format_percent(series.utilization(range)));
    if (series.has_sm_efficiency())
      line(in_words_of(document.vendor, "est. SM efficiency").c_str(),
           "Mean over the selected time of min(1, blocks per SM of the kernels that run).",
           format_percent(series.sm_efficiency(range)));
  }
  ImGui::Spacing();
  draw_account(document, view, window, kAccountParts);
}

void draw_launches(const LaunchStats& launches, const WindowState& window) {
  if (launches.kernel_launches == 0) return;
  const auto count = [](std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); };
  ImGui::Spacing();
  draw_text(Face::sans, theme_of(window).muted,
            count(launches.kernel_launches) + " kernel launches waited " + format_duration(launches.delay.median) +
                " in the middle, " + format_duration(launches.delay.p95) + " at p95, " + format_duration(launches.delay.max) +
                " at most; " + count(launches.short_kernels) + " kernels were shorter than their launch.",
            /*wrap=*/true);
  draw_hover("From the end of the launching call to the start of the kernel (HTA).");
}

// The sums are those of the whole recording: of a selected time it says how many gaps there are.
void draw_gap_head(const StreamFacts& facts, std::size_t rows, const TraceView& view, const WindowState& window) {
  if (view.range) {
    draw_text(Face::bold, theme_of(window).text, "Idle gaps");
    ImGui::SameLine(0, 16 * window.frame.scale);
    return draw_text(Face::sans, theme_of(window).muted,
                     format_count(static_cast<std::int64_t>(rows)) + " in the selected time, or partly in it");
  }
  std::array<Ns, kIdleClasses> time{};
  std::array<std::uint64_t, kIdleClasses> count{};
  for (const StreamIdle& stream : facts.idle)
    for (std::size_t c = 0; c < kIdleClasses; ++c) time[c] += stream.time[c], count[c] += stream.count[c];
  const Theme& theme = theme_of(window);
  draw_text(Face::bold, theme.text, "Idle gaps");
  for (std::size_t c = 0; c < kIdleClasses; ++c) {
    if (count[c] == 0) continue;
    const std::string words = std::string(words_of(static_cast<IdleClass>(c)).title) + " " + format_duration(time[c]) + " in " +
                              format_count(static_cast<std::int64_t>(count[c]));
    ImGui::SameLine(0, 16 * window.frame.scale);
    if (ImGui::GetContentRegionAvail().x < text_width(Face::sans, words)) ImGui::NewLine();
    draw_text(Face::sans, theme.muted, words);
    draw_hover(words_of(static_cast<IdleClass>(c)).help);
  }
}

// The gap of its GPU that most of a stream's gap is, which shows what the host did all the while; none where other streams
// worked meanwhile.
std::optional<std::size_t> account_gap(const TimeAccount& account, const IdleGap& gap) {
  const DeviceAccount* const device = account.device(gap.device);
  if (device == nullptr) return std::nullopt;
  const auto [first, last] = device->gaps_in(gap.span);
  for (std::size_t i = first; i < last; ++i)
    if (intersect(device->gaps[i].span, gap.span).length() > gap.span.length() / 2) return i;
  return std::nullopt;
}

void draw_gaps(const Document& document, TraceView& view, const WindowState& window, Requests& out) {
  const StreamFacts& facts = document.analysis()->streams();
  GapsState& state = view.gaps;
  if (draw_trouble<GapsQuestion>(document, window)) return;
  ask(document, GapsQuestion{state.look, view.range}, out);
  const auto& found = answer_to<GapsQuestion>(document);
  if (!found) return;
  const std::vector<std::uint32_t>& rows = *found;
  draw_gap_head(facts, rows.size(), view, window);
  if (facts.gaps.empty()) return draw_absence(window, "No stream was idle between two operations.");
  ImGui::SameLine();
  if (ImGui::GetContentRegionAvail().x < kButtonsWidth * window.frame.scale) ImGui::NewLine();
  draw_csv_buttons(
      ".gaps.csv", [&] { return csv_of(gap_rows(document.trace, facts.gaps), rows); }, out);
  if (rows.empty()) return draw_absence(window, "No stream was idle in the selected time.");
  const GapRows table = gap_rows(document.trace, facts.gaps);
  ColumnGrid grid{"gaps", table, rows, state.look};
  if (state.selected >= 0) grid.selected = static_cast<std::uint32_t>(state.selected);
  const GridClick click = draw_column_grid(grid, window);
  if (click.row < 0) return;
  state.selected = rows[static_cast<std::size_t>(click.row)];
  const IdleGap gap = facts.gaps[static_cast<std::size_t>(state.selected)];
  const TimeAccount& account = document.analysis()->account();
  if (const auto same = account_gap(account, gap))
    return choose_gap(document, view, window, gap.device, *same, /*go_there=*/true);
  if (const SliceId target = gap.cause ? gap.cause : gap.after) select_slice(view, target, /*reveal=*/true);
  go_to(view, window, focused_on(gap.span, document.trace.span));
}

}  // namespace

void draw_gpu(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  const TraceSession* facts = document.analysis();
  if (!facts) return draw_working(document, window, "the GPU figures", out);
  if (facts->usage().devices.empty()) return draw_absence(window, document.trace.producer->no_gpu_work);
  const float whole = ImGui::GetContentRegionAvail().x;
  const float gap = 16 * window.frame.scale;
  const float figures =
      std::min(whole * kFiguresShare,
               kFiguresMost * window.frame.scale * std::max(1.0f, static_cast<float>(facts->usage().devices.size()) * 0.6f));
  ImGui::BeginChild("figures", {figures, 0});
  if (view.range) {
    draw_figures_of_range(document, facts->usage(), view, window);
  } else {
    draw_figures(document, facts->usage(), window);
    draw_launches(facts->streams().launches, window);
  }
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("gaps", {whole - figures - gap, 0});
  draw_gaps(document, view, window, out);
  ImGui::EndChild();
}

}  // namespace gapscope
