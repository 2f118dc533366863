// The tab "Steps": one row a step, its time as a stacked bar in the plugin's order of priority.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/analyze/named_steps.h"
#include "core/analyze/step_columns.h"
#include "core/analyze/steps.h"
#include "core/base/text.h"
#include "core/compare/difference_columns.h"
#include "core/session/missing_words.h"
#include "core/trace/crop_mark.h"
#include "core/view/document.h"
#include "core/view/sql/sql_examples.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/slice_colour.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/widgets/charts.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kNamedRoles = 2;

constexpr std::array<Hue, kStepRoles> kHues = {Hue::gemm, Hue::copy,        Hue::memset, Hue::collective,
                                               Hue::call, Hue::elementwise, Hue::op,     Hue::python};

constexpr float kChoiceWidth = 200;
constexpr float kButtonsWidth = 230;  // of "As SQL" and those of CSV
constexpr float kStepsShare = 0.55f;  // of the width, while what differs is alongside

Rgb role_colour(const WindowState& window, std::size_t role) {
  return paint_of(window.settings.slice_colours, kHues[role], 1).fill;
}

std::string part_text(const Step& step, std::size_t role) {
  const double share = static_cast<double>(step.time[role]) / static_cast<double>(std::max<Ns>(step.span.length(), 1));
  return std::string(step_role_name(static_cast<StepRole>(role))) + ": " + format_duration(step.time[role]) + ", " +
         format_percent(share) + "\n" + step_role_help(static_cast<StepRole>(role));
}

void draw_bar(const Step& step, Ns longest, const Box& box, const WindowState& window) {
  Painter painter(*ImGui::GetWindowDrawList(), window.frame.scale);
  std::array<BarPart, kStepRoles> parts;
  for (std::size_t i = 0; i < kStepRoles; ++i)
    parts[i] = {role_colour(window, i), static_cast<double>(step.time[i]) / static_cast<double>(std::max<Ns>(longest, 1))};
  const Box bar{box.x0, box.y0 + painter.px(3), box.x1, box.y1 - painter.px(3)};
  const std::optional<std::size_t> under = draw_stack(painter, bar, parts);
  if (!under || !ImGui::IsWindowHovered()) return;
  draw_tooltip({box.x0, box.y0}, {box.x1, box.y1}, part_text(step, *under));
}

// Of the average step, what its time went into, in words: the largest parts, as many as there is room for alongside the bars.
std::string shares_text(const Step& step) {
  std::vector<std::size_t> roles;
  for (std::size_t i = 0; i < kStepRoles; ++i)
    if (step.time[i] > 0) roles.push_back(i);
  std::sort(roles.begin(), roles.end(), [&](std::size_t a, std::size_t b) { return step.time[a] > step.time[b]; });
  roles.resize(std::min(roles.size(), kNamedRoles));
  std::string text;
  for (const std::size_t i : roles) {
    const double share = static_cast<double>(step.time[i]) / static_cast<double>(std::max<Ns>(step.span.length(), 1));
    text += (text.empty() ? "" : ", ") + std::string(step_role_name(static_cast<StepRole>(i))) + " " + format_percent(share);
  }
  return text;
}

// The roles that have time in any step. In the plugin's words a kernel is one also while it only communicates, which elsewhere
// in this window is not computing.
void draw_roles(const Document& document, const Steps& steps, const WindowState& window) {
  const TimeAccount* account = account_of(document);
  const bool communicates = account && account->busiest() && account->busiest()->times.exposed_communication > 0;
  const float gap = 14 * window.frame.scale, box = ImGui::GetTextLineHeight() + 5 * window.frame.scale;
  for (std::size_t i = 0; i < kStepRoles; ++i) {
    if (std::none_of(steps.steps.begin(), steps.steps.end(), [&](const Step& s) { return s.time[i] > 0; })) continue;
    std::string name(step_role_name(static_cast<StepRole>(i)));
    if (communicates && static_cast<StepRole>(i) == StepRole::kernel) name += ", also of communication";
    go_on(box + ImGui::CalcTextSize(name.c_str()).x, gap);
    ImGui::BeginGroup();
    draw_legend(role_colour(window, i), name, window);
    ImGui::EndGroup();
    draw_hover(step_role_help(static_cast<StepRole>(i)));
  }
  go_on(kButtonsWidth * window.frame.scale, gap);
}

void draw_head(const Document& document, const Steps& steps, const StepRows& table, const std::vector<std::uint32_t>& rows,
               TraceView& view, WindowState& window, Requests& out) {
  draw_roles(document, steps, window);
  std::string note;
  if (!steps.annotated) note = crop_mark(document.trace) ? kNoWholeStep : no_steps_words(document.trace);
  if (!steps.iterations_of.empty()) note = "No step is marked: each iteration ends with " + steps.iterations_of + ".";
  if (steps.dropped > 0)
    note = std::to_string(steps.dropped) + " at the end left out: its GPU work is only partly in the file.";
  if (!steps.steps.empty() && reaches_to_next(document.trace, steps.steps.front()))
    note = std::string(kStepToNext) + (note.empty() ? "" : " ") + note;
  if (const std::string& judged_by = document.trace.stated.steps; !judged_by.empty())
    note = "Verdict, gaps and advice are judged by \"" + printable(judged_by) + "\"." + (note.empty() ? "" : " ") + note;
  draw_range_chip(document, view, window);
  if (view.range) ImGui::SameLine();
  if (ImGui::Button("As SQL")) open_as_sql(window, kStepsAsSql);
  draw_hover("Show the query that gives these rows, of the whole trace.");
  ImGui::SameLine();
  draw_csv_buttons(
      ".steps.csv", [&] { return csv_of(table, rows); }, out);
  if (!note.empty()) draw_text(Face::sans, theme_of(window).notable, note, /*wrap=*/true);
}

// What the steps are without a choice: a walk over the slices, made once a document.
struct UnstatedSteps {
  std::string name;
};

// What the trace is judged by, and the way back from a choice.
void draw_judged_by(const Document& document, const std::string& unstated, StepsState& state, Requests& out) {
  const std::string& judged_by = document.trace.stated.steps;
  if (!state.annotation.empty() && state.annotation != judged_by) {
    ImGui::SameLine();
    if (ImGui::Button("Judge by these")) out.add(StateSteps{state.annotation});
    draw_hover("Reads the file again: verdict, gaps and advice are then of these steps, also when it is next opened.");
  }
  if (judged_by.empty()) return;
  ImGui::SameLine();
  if (ImGui::Button((unstated.empty() ? "Judge without steps" : "Use " + printable(unstated) + " again").c_str())) {
    state.annotation.clear();
    out.add(StateSteps{});
  }
  draw_hover("Reads the file again: verdict, gaps and advice are then as if no steps were chosen.");
}

// The steps without a choice, or any annotation of the file.
void draw_annotation_choice(const Document& document, TraceView& view, const WindowState& window, Requests& out) {
  StepsState& state = view.steps;
  ask(document, StepsQuestion{state.annotation}, out);
  const std::shared_ptr<const StepsAnswer>& answer = answer_to<StepsQuestion>(document);
  const std::string& judged_by = document.trace.stated.steps;
  const std::string& unstated =
      document.session
          .fact<UnstatedSteps>(
              [&] { return std::make_unique<const UnstatedSteps>(UnstatedSteps{unstated_steps_name(document.trace)}); })
          ->name;
  const std::string usual = unstated.empty() ? "no step marked" : printable(unstated);
  const std::string& chosen = state.annotation.empty() ? judged_by : state.annotation;
  ImGui::SetNextItemWidth(kChoiceWidth * window.frame.scale);
  if (ImGui::BeginCombo("##annotation", chosen.empty() ? usual.c_str() : printable(chosen).c_str())) {
    if (ImGui::Selectable(usual.c_str(), chosen.empty())) {
      state.annotation.clear();
      if (!judged_by.empty()) out.add(StateSteps{});
    }
    if (answer) {
      for (const auto& [name, count] : answer->names) {
        if (without_numbers(name) == unstated) continue;  // it is in the list already
        ImGui::PushID(name.c_str());
        if (ImGui::Selectable((printable(name) + "  x " + format_count(count)).c_str(), chosen == name))
          state.annotation = name;
        ImGui::PopID();
      }
    }
    ImGui::EndCombo();
  }
  draw_hover("The annotation (record_function) that marks a step.");
  draw_judged_by(document, unstated, state, out);
}

// Alongside the steps: what the chosen one did that the median one did not.
void draw_difference(const Document& document, const WindowState& window, SliceId step, const std::string& annotation,
                     Requests& out) {
  const StepDifferenceQuestion question{step, annotation};
  ask(document, question, out);
  if (draw_trouble<StepDifferenceQuestion>(document, window)) return;
  const Asked<StepDifferenceQuestion>& asked_of = asked<StepDifferenceQuestion>(document);
  const std::shared_ptr<const StepDifferencesAnswer>& answer = asked_of.answer;
  if (!answer) return draw_text(Face::sans, theme_of(window).muted, "Comparing with the median step...", true);
  if (!answer->absence.empty()) return draw_text(Face::sans, theme_of(window).muted, answer->absence, /*wrap=*/true);
  const StepDifferences& found = answer->found;
  draw_text(Face::sans, theme_of(window).text, difference_headline(found), /*wrap=*/true);
  if (found.is_median()) return;
  if (found.rows.empty())
    return draw_text(Face::sans, theme_of(window).muted, "No difference of 1 % of the step or more.", true);
  const auto table = step_difference_rows(found.rows);
  const std::vector<std::uint32_t> rows = first_rows(*table, table->rows());
  TableLook look;  // the rows stand in an order of their own
  draw_csv_buttons(
      ".step.csv", [&] { return csv_of(*table, rows); }, out);
  ColumnGrid grid{"difference", *table, rows, look};
  grid.sorts = false;
  draw_column_grid(grid, window);
}

}  // namespace

void draw_steps(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  const TraceSession* facts = document.analysis();
  if (!facts) return draw_working(document, window, "the steps", out);
  draw_annotation_choice(document, view, window, out);
  if (draw_trouble<StepsQuestion>(document, window)) return;
  const std::shared_ptr<const StepsAnswer> answer = answer_to<StepsQuestion>(document);
  const bool other = answer && !answer->annotation.empty() && !view.steps.annotation.empty();
  const Steps& steps = other ? answer->steps : facts->steps();
  if (steps.steps.empty())
    return draw_absence(window, "No steps in this trace: call profiler.step() after each step and pass schedule(...).");
  const StepContext context{document.trace};
  const StepRows table = step_rows(steps.steps, context);
  std::vector<std::uint32_t> rows = first_rows(table, table.rows());  // of the selected time, where there is one
  if (view.range) std::erase_if(rows, [&](std::uint32_t row) { return !steps.steps[row].span.overlaps(*view.range); });
  draw_head(document, steps, table, rows, view, window, out);
  if (rows.empty()) return draw_absence(window, "The selected time has no step.");
  std::vector<const Step*> shown;
  Ns longest = 0;
  TableLook look;  // the rows stand in order of time
  ColumnGrid grid{"steps", table, rows, look};
  grid.sorts = false;
  for (const std::uint32_t row : rows) {
    const Step& step = steps.steps[row];
    shown.push_back(&step);
    longest = std::max(longest, step.span.length());
    if (step.slice && step.slice == view.selection) grid.selected = row;
  }
  grid.paint = [&](std::uint32_t row, const Box& box) { draw_bar(steps.steps[row], longest, box, window); };
  const Step average = average_step(shown);
  if (rows.size() > 1) grid.noun = "steps";
  grid.total = [&, of_average = step_rows({&average, 1}, context)](std::size_t column, GridCell& cell) {
    const bool is_bar = table.head(column).ways.painted;
    CellText text = is_bar ? CellText{shares_text(average), shares_text(average)} : of_average.text(0, column);
    cell = {std::move(text.text), std::move(text.hover), 0, text.muted};
  };
  const bool chosen = grid.selected.has_value();
  const float width = ImGui::GetContentRegionAvail().x;
  if (chosen) ImGui::BeginChild("of steps", {std::floor(width * kStepsShare), 0});
  const GridClick click = draw_column_grid(grid, window);
  if (chosen) {
    ImGui::EndChild();
    ImGui::SameLine();
    ImGui::BeginChild("of difference", {0, 0});
    draw_difference(document, window, view.selection, other ? answer->annotation : std::string(), out);
    ImGui::EndChild();
  }
  if (click.row < 0) return;
  const Step& step = steps.steps[rows[static_cast<std::size_t>(click.row)]];
  if (step.slice) select_slice(view, step.slice, /*reveal=*/true);
  go_to(view, window, focused_on(step.span, document.trace.span));
}

}  // namespace gapscope
