// The tab "Steps": one row a step, its time as a stacked bar in the plugin's order of priority.
#include <array>
#include <cmath>
#include <vector>

#include "core/base/text.h"
#include "core/view/sql/sql_examples.h"
#include "core/view/table/csv.h"
#include "core/view/timeline/slice_colour.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/widgets/charts.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/grid.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

struct RoleText {
  Hue hue;
  const char* help;
};

// By StepRole. Of what goes on at a moment the first of these counts.
constexpr std::array<RoleText, kStepRoles> kRoles = {{
    {Hue::gemm, "A kernel of this step runs."},
    {Hue::copy, "A copy runs, and no kernel."},
    {Hue::memset, "Memory is being filled, and nothing of the above runs."},
    {Hue::collective, "A collective goes on, and nothing of the above."},
    {Hue::call, "A CUDA runtime call runs, and the GPU does nothing."},
    {Hue::elementwise, "The data loader works, and nothing of the above goes on."},
    {Hue::op, "An operator or annotation runs on the CPU, and nothing of the above goes on."},
    {Hue::python, "None of these: Python between operators, or waiting."},
}};

constexpr float kChoiceWidth = 200;

Rgb role_colour(const ViewState& view, std::size_t role) { return paint_of(view.slice_colours, kRoles[role].hue, 1).fill; }

enum Column : std::size_t { kName, kBar, kSpan, kCpu, kGpu, kKernels, kLaunches };

constexpr std::array<GridColumn, 7> kColumns = {{
    {"Step", "Its annotation.", 20, false, false, 2},
    {"What its time went into", "As long as the step, on the scale of the longest.", 0, false, true, 2},
    {"Step", "From the end of the last step's GPU work to the end of its own.", 10, true, false, 2},
    {"CPU", "The annotation itself.", 10, true, false, 2},
    {"GPU span", "From the begin of the first to the end of the last GPU work launched in it.", 10, true, false, 2},
    {"Kernels", "Launched in it.", 9, true, false, 0},
    {"Launches", "Calls in it that started GPU work.", 10, true, false, 0},
}};

std::string part_text(const Step& step, std::size_t role) {
  const double share = static_cast<double>(step.time[role]) / static_cast<double>(std::max<Ns>(step.span.length(), 1));
  return std::string(step_role_name(static_cast<StepRole>(role))) + ": " + format_duration(step.time[role]) + ", " +
         format_percent(share) + "\n" + kRoles[role].help;
}

void draw_bar(const Step& step, Ns longest, const Box& box, const ViewState& view) {
  Painter painter(*ImGui::GetWindowDrawList(), view.scale);
  std::array<BarPart, kStepRoles> parts;
  for (std::size_t i = 0; i < kStepRoles; ++i)
    parts[i] = {role_colour(view, i), static_cast<double>(step.time[i]) / static_cast<double>(std::max<Ns>(longest, 1))};
  const Box bar{box.x0, box.y0 + painter.px(3), box.x1, box.y1 - painter.px(3)};
  const std::optional<std::size_t> under = draw_stack(painter, bar, parts);
  if (!under || !ImGui::IsWindowHovered()) return;
  draw_tooltip({box.x0, box.y0}, {box.x1, box.y1}, part_text(step, *under));
}

GridCell step_cell(const Step& step, std::size_t column) {
  const auto time = [](Ns ns) { return GridCell{format_duration(ns), format_duration_exact(ns), 0, ns == 0}; };
  switch (column) {
    case kName: return {step.name.empty() ? "whole recording" : step.name, step.name, 0, false};
    case kSpan: return time(step.span.length());
    case kCpu: return time(step.cpu.length());
    case kGpu: return step.gpu_ops == 0 ? GridCell{"-", "No GPU work was launched in it.", 0, true} : time(step.gpu.length());
    case kKernels: return {format_count(step.kernels), "", 0, step.kernels == 0};
    case kLaunches: return {format_count(step.launches), "", 0, step.launches == 0};
    default: return {};
  }
}

std::string steps_csv(const Trace& trace, const Steps& steps, const std::optional<Span>& range) {
  std::string text = "step,begin_ns,step_ns,cpu_ns,gpu_ns,kernels,launches";
  for (std::size_t i = 0; i < kStepRoles; ++i) text += "," + std::string(step_role_key(static_cast<StepRole>(i)));
  text += '\n';
  for (const Step& step : steps.steps) {
    if (range && !step.span.overlaps(*range)) continue;
    text += csv_cell(step.name);
    for (const Ns value : {step.span.begin - trace.span.begin, step.span.length(), step.cpu.length(), step.gpu.length(),
                           Ns{step.kernels}, Ns{step.launches}})
      text += "," + std::to_string(value);
    for (const Ns time : step.time) text += "," + std::to_string(time);
    text += '\n';
  }
  return text;
}

void draw_head(const Document& document, const Steps& steps, ViewState& view, Requests& out) {
  for (std::size_t i = 0; i < kStepRoles; ++i) {
    ImGui::BeginGroup();
    draw_legend(role_colour(view, i), step_role_name(static_cast<StepRole>(i)), view);
    ImGui::EndGroup();
    draw_hover(kRoles[i].help);
    ImGui::SameLine(0, 14 * view.scale);
  }
  std::string note;
  if (!steps.annotated) note = "No steps recorded: call profiler.step() and pass schedule(...); this is the whole recording.";
  if (steps.dropped > 0) note = std::to_string(steps.dropped) + " at the end left out: its GPU work is not all in the file.";
  draw_range_chip(document, view);
  if (view.active().range) ImGui::SameLine();
  if (ImGui::Button("As SQL")) open_as_sql(view, kStepsAsSql);
  draw_hover("Show the query that gives these rows, of the whole trace.");
  ImGui::SameLine();
  draw_csv_buttons(
      ".steps.csv", [&] { return steps_csv(document.trace, steps, view.active().range); }, out);
  if (!note.empty()) draw_text(Face::sans, theme_of(view.theme).notable, note, /*wrap=*/true);
}

// ProfilerStep#N, or any annotation of the file.
void draw_annotation_choice(const Document& document, ViewState& view, Requests& out) {
  StepsState& state = view.active().steps;
  ask(document, StepsQuestion{state.annotation}, out);
  const std::shared_ptr<const StepsAnswer>& answer = answer_to<StepsQuestion>(document);
  constexpr const char* kDefault = "ProfilerStep#N";
  ImGui::SetNextItemWidth(kChoiceWidth * view.scale);
  const std::string shown = state.annotation.empty() ? kDefault : printable(state.annotation);
  if (ImGui::BeginCombo("##annotation", shown.c_str())) {
    if (ImGui::Selectable(kDefault, state.annotation.empty())) state.annotation.clear();
    if (answer) {
      for (const auto& [name, count] : answer->names) {
        ImGui::PushID(name.c_str());
        if (ImGui::Selectable((printable(name) + "  x " + format_count(count)).c_str(), state.annotation == name))
          state.annotation = name;
        ImGui::PopID();
      }
    }
    ImGui::EndCombo();
  }
  draw_hover("The annotation (record_function) that marks a step.");
  ImGui::SameLine(0, 14 * view.scale);
}

}  // namespace

void draw_steps(const Document& document, ViewState& view, Requests& out) {
  const Analysis* facts = document.analysis();
  if (!facts) return draw_working(document, view, "the steps", out);
  draw_annotation_choice(document, view, out);
  if (draw_trouble<StepsQuestion>(document, view)) return;
  const std::shared_ptr<const StepsAnswer> answer = answer_to<StepsQuestion>(document);
  const bool other = answer && !answer->annotation.empty() && !view.active().steps.annotation.empty();
  const Steps& steps = other ? answer->steps : facts->steps();
  if (steps.steps.empty())
    return draw_absence(view, "No steps in this trace: call profiler.step() after each step and pass schedule(...).");
  draw_head(document, steps, view, out);
  std::vector<std::size_t> rows;  // of the selected time, where there is one
  Ns longest = 0;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    if (view.active().range && !steps.steps[i].span.overlaps(*view.active().range)) continue;
    rows.push_back(i);
    longest = std::max(longest, steps.steps[i].span.length());
  }
  if (rows.empty()) return draw_absence(view, "No step lies in the selected time, not even in part.");
  Grid grid;
  grid.id = "steps";
  grid.columns = kColumns;
  grid.rows = rows.size();
  grid.sorted_by = kColumns.size();
  grid.cell = [&](std::size_t row, std::size_t column) { return step_cell(steps.steps[rows[row]], column); };
  grid.paint = [&](std::size_t row, const Box& box) { draw_bar(steps.steps[rows[row]], longest, box, view); };
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (steps.steps[rows[i]].slice && steps.steps[rows[i]].slice == view.active().selection)
      grid.selected = static_cast<std::int64_t>(i);
  const GridClick click = draw_grid(grid, view);
  if (click.row < 0) return;
  const Step& step = steps.steps[rows[static_cast<std::size_t>(click.row)]];
  if (step.slice) select_slice(view, step.slice, /*reveal=*/true);
  go_to(view, focused_on(step.span, document.trace.span));
}

}  // namespace gapscope
