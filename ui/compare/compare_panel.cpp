// The tab "Compare": what changed from trace A to trace B, over core/view/compare/compare_model.h. Blue is faster or fewer,
// orange slower or more (distinguished with any colour vision), and every difference has its sign.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/base/text.h"
#include "core/view/compare/compare_model.h"
#include "ui/commands.h"
#include "ui/panels.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kFilterWidth = 180;  // px at scale 1
constexpr float kStepsWidth = 1220;
constexpr float kVerdictShare = 0.4f;  // of the panel's height, at most
constexpr float kRoomy = 230;          // px at scale 1: in a lower panel the verdict has one line
constexpr float kLeastInk = 0.45f;     // of the hue in the smallest difference

struct ComparePanel {
  WindowState& window;
  Requests& out;
  const Theme& theme;
  CompareState& state;
  const ComparisonAnswer& answer;
  const Comparison& c;
};

// From faster (-1, blue) over none to slower (1, orange).
Rgb change_colour(const WindowState& window, float change) {
  const Theme& theme = theme_of(window);
  if (change == 0) return theme.muted;
  const bool light = window.settings.theme == ThemeName::light;
  const Rgb hue = change < 0 ? rgb(light ? 0x0072B2 : 0x56B4E9) : rgb(light ? 0xB34700 : 0xE69F00);
  return blend(theme.muted, hue, kLeastInk + (1 - kLeastInk) * std::min(1.0f, std::abs(change)));
}

// A bar from the middle: to the left what got less, to the right what got more.
void draw_change_bar(const WindowState& window, const Box& box, float change) {
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  const float middle = std::floor((box.x0 + box.x1) / 2), half = box.width() / 2 - p.px(2);
  p.line_y(middle, box.y0 + p.px(3), box.y1 - p.px(3), colour(theme_of(window).line));
  if (change == 0) return;
  const float length = std::max(p.px(2), std::round(half * std::abs(change)));
  const float y0 = box.y0 + p.px(5), y1 = box.y1 - p.px(5);
  p.fill(change < 0 ? Box{middle - length, y0, middle, y1} : Box{middle + p.hairline(), y0, middle + p.hairline() + length, y1},
         colour(change_colour(window, change)));
}

GridCell delta_cell(const WindowState& window, const std::string& text, std::string hover, float change) {
  GridCell cell{text, std::move(hover), 0, change == 0};
  cell.ink = change_colour(window, change);
  return cell;
}

// ---- Steps

// Where a cold first one is left out, a step of the medians is a warm one.
bool leaves_cold_out(const Comparison& c) { return c.a.cold || c.b.cold; }

constexpr std::array<GridColumn, 8> kStepColumns = {{
    {"Of a step", "Measured for every step.", 0, false, false, 2},
    {"A", "The median over A's steps.", 11, true, false, 2},
    {"B", "The median over B's steps.", 11, true, false, 2},
    {"B - A", "Below zero: B is faster, or has fewer.", 12, true, false, 2},
    {"B against A", "How much faster or slower B is. Muted if single steps vary as much.", 14, true, false, 0},
    {"less | more", "To the left: less in B. To the right: more. Half or twice as much fills a side.", 18, false, true, 2},
    {"A from - to", "The shortest and the longest of A's steps.", 23, false, false, 2, 1},
    {"B from - to", "The shortest and the longest of B's steps.", 23, false, false, 2, 1},
}};
constexpr std::size_t kSpreadColumns = 2;  // the last ones, of several steps

std::span<const GridColumn> columns_of(const Comparison& c) {
  static constexpr auto kOfWarmSteps = [] {
    auto out = kStepColumns;
    out[0].title = "Of a warm step";
    out[0].help = "Measured for every step but the cold first one.";
    return out;
  }();
  static constexpr auto kOfAll = [] {
    auto out = kStepColumns;
    out[0].title = "Of all";
    out[0].help = "Measured for each recording as a whole: neither has marked steps.";
    out[1].help = "All of A.";
    out[2].help = "All of B.";
    out[4].help = "How much faster or slower B is. Muted if the difference is within the noise.";
    return out;
  }();
  if (c.of_whole()) return std::span(kOfAll).first(kOfAll.size() - kSpreadColumns);
  return leaves_cold_out(c) ? kOfWarmSteps : kStepColumns;
}

std::string spread_text(StepFigure figure, const StepSpread& spread) {
  if (spread.min == spread.max) return figure_text(figure, spread.min);
  return figure_text(figure, spread.min) + " - " + figure_text(figure, spread.max);
}

GridCell ratio_cell(const FigureChange& change, bool whole) {
  if (!change.ratio || *change.ratio <= 0) return {"-", "One of the traces has no value.", 0, true};
  if (*change.ratio == 1) return {"same", "", 0, true};
  std::string hover = whole ? "" : "By the medians of the steps.";
  if (!whole && change.ratio_low && change.ratio_high && *change.ratio_low > 0)
    hover += " By the middle half of the steps: from " + ratio_text(change.figure, *change.ratio_low, change.equal_work) +
             " to " + ratio_text(change.figure, *change.ratio_high, change.equal_work) + ".";
  if (!change.differs)
    hover += whole ? "No clear difference: it is within the noise." : " No clear difference: single steps vary as much.";
  const std::string text = ratio_text(change.figure, *change.ratio, change.equal_work);
  return {text.starts_with("1.00x") ? "same" : text, hover, 0, !change.differs};
}

// None where single steps vary as much.
float figure_change(const ComparePanel& panel, StepFigure figure) {
  if (!panel.c.change(figure).differs) return 0;
  return change_of(static_cast<double>(panel.c.a.of(figure).median), static_cast<double>(panel.c.b.of(figure).median));
}

GridCell step_cell(const ComparePanel& panel, StepFigure figure, std::size_t column) {
  const StepSpread &a = panel.c.a.of(figure), &b = panel.c.b.of(figure);
  switch (column) {
    case 0: return {std::string(figure_title(figure)), "", 0, false};
    case 1: return {figure_text(figure, a.median), is_time(figure) ? format_duration_exact(a.median) : "", 0, a.median == 0};
    case 2: return {figure_text(figure, b.median), is_time(figure) ? format_duration_exact(b.median) : "", 0, b.median == 0};
    case 3: return delta_cell(panel.window, figure_delta_text(figure, b.median - a.median), "", figure_change(panel, figure));
    case 4: return ratio_cell(panel.c.change(figure), panel.c.of_whole());
    case 6: return {spread_text(figure, a), fmt::format("{} of {} steps count.", panel.c.a.counted, panel.c.a.steps), 0, true};
    case 7: return {spread_text(figure, b), fmt::format("{} of {} steps count.", panel.c.b.counted, panel.c.b.steps), 0, true};
    default: return {};
  }
}

void draw_steps_table(ComparePanel& panel) {
  Grid grid;
  grid.id = "step figures";
  grid.columns = columns_of(panel.c);
  grid.rows = kStepFigures;
  grid.sorted_by = grid.columns.size();
  grid.width_px =
      std::min(ImGui::GetContentRegionAvail().x, kStepsWidth * panel.window.frame.scale);  // names and numbers stay together
  grid.cell = [&](std::size_t row, std::size_t column) { return step_cell(panel, static_cast<StepFigure>(row), column); };
  grid.paint = [&](std::size_t row, const Box& box) {
    draw_change_bar(panel.window, box, figure_change(panel, static_cast<StepFigure>(row)));
  };
  if (draw_grid(grid, panel.window).row < 0) return;
  panel.state.show = SlicePair{panel.c.a.picked_slice, panel.c.b.picked_slice};
}

// ---- Kernels and operators

// Rows of kernels or operators: sorted by clicks on the header, a click on a row goes to both places.
void draw_rows(ComparePanel& panel) {
  CompareState& state = panel.state;
  const bool kernels = state.table == CompareTable::kernels;
  const std::vector<std::uint32_t>& rows = state.arranged.rows;
  if (rows.empty())
    return draw_absence(panel.window, !state.look().filter.empty() ? "No name contains this text."
                                      : kernels                    ? "Neither trace has GPU work in the compared part."
                                                                   : "Neither trace calls an operator in the compared part.");
  const auto table = comparison_rows(panel.c, state.table, state.as_called());
  ColumnGrid grid{kernels ? "kernel changes" : "operator changes", *table, rows, state.look()};
  if (state.chosen >= 0) grid.selected = static_cast<std::uint32_t>(state.chosen);
  grid.adorn = [&](GridCell& cell, std::uint32_t row, std::size_t column) {
    if (!table->head(column).ways.difference) return;
    const double a = table->value(row, column - 2).number(), b = table->value(row, column - 1).number();
    cell.ink = change_colour(panel.window, change_of(a, b));
  };
  const GridClick click = draw_column_grid(grid, panel.window);
  if (click.row < 0) return;
  const std::uint32_t row = rows[static_cast<std::size_t>(click.row)];
  state.chosen = row;
  state.show = kernels ? SlicePair{panel.c.kernels[row].example_a, panel.c.kernels[row].example_b}
                       : SlicePair{panel.c.operators[row].slice_a, panel.c.operators[row].slice_b};
}

// ---- Findings

float tone_change(Tone tone) { return tone == Tone::better ? -1.0f : tone == Tone::worse ? 1.0f : 0.0f; }

void draw_finding(ComparePanel& panel, const ComparisonFinding& finding) {
  static constexpr const char* kTones[] = {"- better ", "+ worse  ", "  neutral"};
  draw_text(Face::mono, change_colour(panel.window, tone_change(finding.tone)), kTones[static_cast<std::size_t>(finding.tone)]);
  draw_hover(finding.tone == Tone::better  ? "Better in B."
             : finding.tone == Tone::worse ? "Worse in B."
                                           : "Neither trace is better because of it.");
  ImGui::SameLine(0, 10 * panel.window.frame.scale);
  ImGui::BeginGroup();
  draw_text(Face::bold, panel.theme.text, printable(finding.title));
  draw_text(Face::sans, panel.theme.muted, printable(finding.summary), /*wrap=*/true);
  ImGui::EndGroup();
  ImGui::Dummy({0, 2 * panel.window.frame.scale});
}

// The strip above the lanes speaks of the programs without their profiler.
std::string verdict_words(const ComparePanel& panel) { return "As recorded: " + printable(panel.c.verdict); }

// `low`: the verdict does not stand above it.
void draw_findings_list(ComparePanel& panel, bool low) {
  ImGui::BeginChild("comparison findings", {0, 0});
  if (low) draw_text(Face::bold, panel.theme.text, verdict_words(panel), /*wrap=*/true);
  for (const ComparisonFinding& finding : panel.c.findings) draw_finding(panel, finding);
  if (panel.c.findings.empty()) draw_absence(panel.window, "No finding is gone, new, or from the comparison.");
  for (const std::string& note : panel.c.notes) draw_text(Face::sans, panel.theme.notable, printable(note), /*wrap=*/true);
  ImGui::EndChild();
}

// ---- All

constexpr std::array<Choice, 4> kTables = {{
    {"Steps", "The time of a step in each trace."},
    {"Kernels", "Kernels that changed, are new or are gone."},
    {"Operators", "Calls that take more or less time, or are in only one trace."},
    {"Findings", "Findings of the comparison, and findings of the traces that are gone or new."},
}};
constexpr std::array<Choice, 2> kOrders = {{
    {"By change", "The largest change first. A click on a column's title sorts by it."},
    {"As called", "In order of time, callers before what they call."},
}};

void draw_toolbar(ComparePanel& panel) {
  CompareState& state = panel.state;
  auto tables = kTables;
  if (panel.c.of_whole()) tables.front() = {"All", "The time of each recording as a whole: neither has marked steps."};
  const auto table =
      static_cast<CompareTable>(draw_choice("table", tables, static_cast<std::size_t>(state.table), panel.window));
  if (table != state.table) state.chosen = -1;
  state.table = table;
  const bool rows = table == CompareTable::kernels || table == CompareTable::operators;
  if (table == CompareTable::operators) {
    ImGui::SameLine();
    const bool as_called = draw_choice("order", kOrders, state.as_called() ? 1 : 0, panel.window) == 1;
    if (as_called) state.operator_look.order = CompareState::kAsCalled;
    if (!as_called && state.as_called()) state.operator_look.order.reset();
  }
  if (rows) {
    ImGui::SameLine();
    ImGui::SetNextItemWidth(kFilterWidth * panel.window.frame.scale);
    text_field("##filter", "filter", state.look().filter);
    draw_hover("Show only rows whose name in A or in B contains this.");
  }
  ImGui::SameLine();
  const auto csv = [&] {
    arrange_comparison(state);
    return comparison_csv(panel.c, state.table, state.arranged.rows);
  };
  draw_csv_buttons(".compare.csv", csv, panel.out);
}

// Of what is too long for a low panel, its begin; the rest scrolls, so that the rows below stay in sight.
void draw_verdict(const ComparePanel& panel) {
  const std::string text = verdict_words(panel);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float line = ImGui::GetTextLineHeight(), most = std::max(2 * line, std::floor(room.y * kVerdictShare / line) * line);
  const float lines = std::floor(text_width(Face::bold, text) / std::max(room.x, 1.0f)) + 1;  // one more where words end early
  if (lines * line <= most) return draw_text(Face::bold, panel.theme.text, text, /*wrap=*/true);
  ImGui::BeginChild("verdict", {0, most});
  draw_text(Face::bold, panel.theme.text, text, /*wrap=*/true);
  ImGui::EndChild();
}

// The first sentences of `text` that are within `room` together; the first one at least.
std::string sentences_within(const std::string& text, float room) {
  std::string out;
  for (std::size_t end = 0; end < text.size();) {
    end = std::min(text.find(". ", end + 1), text.size() - 1) + 1;
    if (!out.empty() && text_width(Face::bold, text.substr(0, end)) > room) break;
    out = text.substr(0, end);
  }
  return out;
}

// In a low panel: the sentences that fit into one line, or else the first one in as many as it needs. The list of findings
// begins with all of them.
void draw_short_verdict(ComparePanel& panel) {
  const std::string text = verdict_words(panel);
  constexpr const char* kAll = "Whole verdict";
  const float room = ImGui::GetContentRegionAvail().x - text_width(Face::sans, kAll) - 2 * ImGui::GetStyle().ItemSpacing.x;
  const std::string shown = sentences_within(text, room);
  draw_text(Face::bold, panel.theme.text, shown, /*wrap=*/true);
  if (shown.size() == text.size()) return;
  draw_hover(text);
  if (text_width(Face::bold, shown) <= room) ImGui::SameLine();
  if (draw_link(Face::sans, panel.theme.accent, kAll)) panel.state.table = CompareTable::findings;
  draw_hover("Show the whole verdict, in the list of findings.");
}

void draw_invitation(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (window.compare.loading) return draw_absence(window, "The second trace is loading.");
  draw_absence(
      window,
      "Nothing to compare with. Open a second trace with File > Compare with..., drop it on this window with Shift held, or "
      "start with: gapscope A --compare B");
  ImGui::Spacing();
  CommandScope scope{&document, view, window, out};
  const Command& open = command(CommandId::compare_with);
  ImGui::BeginDisabled(!is_enabled(open, scope));
  if (ImGui::Button(open.title)) run_command(open.id, scope);
  ImGui::EndDisabled();
  draw_hover(open.help);
}

}  // namespace

void draw_compare(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (!window.compare.open) return draw_invitation(document, view, window, out);
  const std::shared_ptr<const ComparisonAnswer> answer = window.compare.answer;
  if (!window.compare.trouble.empty()) {
    if (draw_try_again(window.compare.trouble, window)) window.compare.asked.reset();
    return;
  }
  if (!answer && draw_trouble<AnalysisQuestion>(document, window)) return;
  if (!answer) return draw_absence(window, "Comparing: first the analyses of both traces, then the changes...");
  if (!answer->error.empty()) return draw_text(Face::sans, theme_of(window).notable, printable(answer->error), /*wrap=*/true);
  ComparePanel panel{window, out, theme_of(window), window.compare, *answer, answer->comparison};
  const bool low = ImGui::GetContentRegionAvail().y < kRoomy * window.frame.scale;
  const bool in_list = low && panel.state.table == CompareTable::findings;
  if (!low) draw_verdict(panel);
  if (low && !in_list) draw_short_verdict(panel);
  draw_toolbar(panel);
  arrange_comparison(window.compare);
  if (panel.state.table == CompareTable::steps) return draw_steps_table(panel);
  if (panel.state.table == CompareTable::findings) return draw_findings_list(panel, low);
  draw_rows(panel);
}

}  // namespace gapscope
