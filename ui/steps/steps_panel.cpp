// The tab "Steps": one row a step, its time as a stacked bar in the plugin's order of priority.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/analyze/overview/missing_words.h"
#include "core/base/table/csv.h"
#include "core/base/text.h"
#include "core/view/sql/sql_examples.h"
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

constexpr std::size_t kRolesTold = 2;

// By StepRole. Of what goes on at a moment the first of these counts.
constexpr std::array<RoleText, kStepRoles> kRoles = {{
    {Hue::gemm, "A kernel of this step runs."},
    {Hue::copy, "A copy runs, and no kernel."},
    {Hue::memset, "Memory is being filled, and nothing of the above runs."},
    {Hue::collective, "A collective goes on, and nothing of the above."},
    {Hue::call, "A CUDA runtime call runs, and the GPU does nothing."},
    {Hue::elementwise, "The data loader works, and nothing of the above goes on."},
    {Hue::op, "An operator or annotation runs on the CPU, and nothing of the above goes on."},
    {Hue::python, "None of these: code between operators, or waiting."},
}};

constexpr float kChoiceWidth = 200;
constexpr float kButtonsWidth = 230;  // of "As SQL" and those of CSV
constexpr float kStepsShare = 0.55f;  // of the width, while what differs stands beside

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

// Of the average step, what its time went into, in words: the largest parts, as many as there is room for beside the bars.
std::string shares_text(const Step& step) {
  std::vector<std::size_t> roles;
  for (std::size_t i = 0; i < kStepRoles; ++i)
    if (step.time[i] > 0) roles.push_back(i);
  std::sort(roles.begin(), roles.end(), [&](std::size_t a, std::size_t b) { return step.time[a] > step.time[b]; });
  roles.resize(std::min(roles.size(), kRolesTold));
  std::string text;
  for (const std::size_t i : roles) {
    const double share = static_cast<double>(step.time[i]) / static_cast<double>(std::max<Ns>(step.span.length(), 1));
    text += (text.empty() ? "" : ", ") + std::string(step_role_name(static_cast<StepRole>(i))) + " " + format_percent(share);
  }
  return text;
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

// What comes next stands beside the last item where it fits, else below.
void go_on(float width, float gap) {
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
  if (ImGui::GetItemRectMax().x + gap + width <= right) ImGui::SameLine(0, gap);
}

// The roles that have time in any step.
void draw_roles(const Steps& steps, const ViewState& view) {
  const float gap = 14 * view.scale, box = ImGui::GetTextLineHeight() + 5 * view.scale;
  for (std::size_t i = 0; i < kStepRoles; ++i) {
    if (std::none_of(steps.steps.begin(), steps.steps.end(), [&](const Step& s) { return s.time[i] > 0; })) continue;
    const std::string name(step_role_name(static_cast<StepRole>(i)));
    go_on(box + ImGui::CalcTextSize(name.c_str()).x, gap);
    ImGui::BeginGroup();
    draw_legend(role_colour(view, i), name, view);
    ImGui::EndGroup();
    draw_hover(kRoles[i].help);
  }
  go_on(kButtonsWidth * view.scale, gap);
}

void draw_head(const Document& document, const Steps& steps, ViewState& view, Requests& out) {
  draw_roles(steps, view);
  std::string note;
  if (!steps.annotated) note = no_steps_words(program_kind(document.trace));
  if (!steps.iterations_of.empty()) note = "No step is marked: each iteration ends with " + steps.iterations_of + ".";
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
void draw_annotation_choice(const Document& document, bool has_profiler_steps, ViewState& view, Requests& out) {
  StepsState& state = view.active().steps;
  ask(document, StepsQuestion{state.annotation}, out);
  const std::shared_ptr<const StepsAnswer>& answer = answer_to<StepsQuestion>(document);
  const char* const usual = has_profiler_steps ? "ProfilerStep#N" : "no step marked";
  ImGui::SetNextItemWidth(kChoiceWidth * view.scale);
  const std::string shown = state.annotation.empty() ? usual : printable(state.annotation);
  if (ImGui::BeginCombo("##annotation", shown.c_str())) {
    if (ImGui::Selectable(usual, state.annotation.empty())) state.annotation.clear();
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
}

constexpr std::array<GridColumn, 5> kDifferences = {{
    {"What", "Idle time of the busiest GPU by its cause, GPU work by name, operators and calls by name (self time).", 8},
    {"Name", "In the order of how much it changed.", 0},
    {"Change", "How much longer it took here, or shorter.", 10, true},
    {"Median", "In the median step.", 10, true, false, 2, 2},
    {"This step", "In the chosen one.", 10, true, false, 2, 1},
}};

GridCell difference_cell(const StepDifference& row, std::size_t column) {
  const auto time = [](Ns ns, std::uint64_t count) {
    const std::string times = count > 0 ? "\n" + format_count(static_cast<std::int64_t>(count)) + "x" : "";
    return GridCell{format_duration(ns), format_duration_exact(ns) + times, 0, ns == 0};
  };
  switch (column) {
    case 0: return {std::string(difference_of_name(row.of)), "", 0, true};
    case 1: return {printable(short_kernel_name(row.name)), printable(row.name)};
    case 3: return time(row.median, row.count_median);
    case 4: return time(row.step, row.count_step);
    default:
      return {(row.delta() > 0 ? "+" : "-") + format_duration(std::abs(row.delta())), format_duration_exact(row.delta())};
  }
}

std::string differences_csv(const std::vector<StepDifference>& rows) {
  std::string text = "what,name,change_ns,median_ns,step_ns,median_count,step_count\n";
  for (const StepDifference& row : rows) {
    text += csv_cell(difference_of_name(row.of)) + ',' + csv_cell(row.name);
    for (const Ns value : {row.delta(), row.median, row.step}) text += ',' + std::to_string(value);
    text += ',' + std::to_string(row.count_median) + ',' + std::to_string(row.count_step) + '\n';
  }
  return text;
}

// Beside the steps: what the chosen one did that the median one did not.
void draw_difference(const Document& document, ViewState& view, SliceId step, const std::string& annotation, Requests& out) {
  const StepDifferenceQuestion question{step, annotation};
  ask(document, question, out);
  if (draw_trouble<StepDifferenceQuestion>(document, view)) return;
  const Asked<StepDifferenceQuestion>& asked_of = asked<StepDifferenceQuestion>(document);
  const std::shared_ptr<const StepDifferencesAnswer>& answer = asked_of.answer;
  if (!answer)
    return draw_text(Face::sans, theme_of(view.theme).muted, "Working out what differs from the median step ...", true);
  if (!answer->absence.empty()) return draw_text(Face::sans, theme_of(view.theme).muted, answer->absence, /*wrap=*/true);
  const StepDifferences& found = answer->found;
  draw_text(Face::sans, theme_of(view.theme).text, difference_headline(found), /*wrap=*/true);
  if (found.is_median()) return;
  if (found.rows.empty())
    return draw_text(Face::sans, theme_of(view.theme).muted, "Nothing in it differs by 1 % of the step or more.", true);
  draw_csv_buttons(
      ".step.csv", [&] { return differences_csv(found.rows); }, out);
  Grid grid;
  grid.id = "difference";
  grid.columns = kDifferences;
  grid.rows = found.rows.size();
  grid.sorted_by = kDifferences.size();
  grid.cell = [&](std::size_t row, std::size_t column) { return difference_cell(found.rows[row], column); };
  draw_grid(grid, view);
}

}  // namespace

void draw_steps(const Document& document, ViewState& view, Requests& out) {
  const Analysis* facts = document.analysis();
  if (!facts) return draw_working(document, view, "the steps", out);
  draw_annotation_choice(document, facts->steps().annotated, view, out);
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
  std::vector<const Step*> shown;
  for (const std::size_t i : rows) shown.push_back(&steps.steps[i]);
  const Step average = average_step(shown);
  if (rows.size() > 1)
    grid.total = [&](std::size_t column) {
      return column == kBar ? GridCell{shares_text(average), shares_text(average)} : step_cell(average, column);
    };
  const bool chosen = grid.selected >= 0;
  const float width = ImGui::GetContentRegionAvail().x;
  if (chosen) ImGui::BeginChild("of steps", {std::floor(width * kStepsShare), 0});
  const GridClick click = draw_grid(grid, view);
  if (chosen) {
    ImGui::EndChild();
    ImGui::SameLine();
    ImGui::BeginChild("of difference", {0, 0});
    draw_difference(document, view, view.active().selection, other ? answer->annotation : std::string(), out);
    ImGui::EndChild();
  }
  if (click.row < 0) return;
  const Step& step = steps.steps[rows[static_cast<std::size_t>(click.row)]];
  if (step.slice) select_slice(view, step.slice, /*reveal=*/true);
  go_to(view, focused_on(step.span, document.trace.span));
}

}  // namespace gapscope
