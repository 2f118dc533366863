#include "ui/findings/findings_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/session/recording.h"
#include "core/session/trace_session.h"
#include "core/view/document.h"
#include "core/view/findings/findings_model.h"
#include "core/view/overview/answer_card.h"
#include "core/view/overview/overview_page.h"
#include "core/view/ranks/ranks_model.h"
#include "core/view/selection/area_model.h"
#include "core/view/sql/sql_examples.h"
#include "ui/findings/open_finding.h"
#include "ui/panels.h"
#include "ui/timeline/timeline_scene.h"
#include "ui/whatif/whatif_panel.h"
#include "ui/widgets/account_bar.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

// px at scale 1, of the window: in a lower one the account, and an answer that does not scroll, leave no list.
constexpr float kRoomForAll = 640;
constexpr float kShape = 11;
constexpr std::size_t kAccountWords = 3;  // parts that stand below the bar

// The figure of a line whose remedy can be replayed leads there.
void draw_figure_link(FindingsPanel& panel, Painter& p, const RankedFinding& ranked, const Box& box, Rgb ink) {
  const ImVec2 below = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({box.x0, box.y0});
  if (ImGui::InvisibleButton("try", {box.width(), box.height()}))
    try_finding(panel.view, panel.window, panel.position_of(ranked));
  const bool hot = ImGui::IsItemHovered();
  p.line_x(box.y1 - panel.px(1), box.x0, box.x1 - panel.px(2), colour(ink, hot ? 1.0f : 0.4f));
  if (hot) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  draw_hover(kTryFinding + std::string(" ") + kTryFindingHelp);
  ImGui::SetCursorScreenPos(below);
}

// What a right click on its line offers.
void draw_finding_menu(FindingsPanel& panel, const RankedFinding& ranked) {
  if (!ImGui::BeginPopupContextItem("finding menu")) return;
  const Finding& finding = ranked.finding;
  if (ImGui::MenuItem(kTryFinding, nullptr, false, can_try(ranked)))
    try_finding(panel.view, panel.window, panel.position_of(ranked));
  draw_hover(kTryFindingHelp);
  if (ImGui::MenuItem("List its places", nullptr, false, !finding.spans.empty()))
    open_list(panel.view, panel.window, list_of_finding(panel.diagnosis, finding));
  draw_hover("List its places below, with their times.");
  if (ImGui::MenuItem("Copy its sentence"))
    panel.out.add(CopyText{fmt::format("{}. {}", title_of(panel.diagnosis, *finding.rule), printable(finding.summary))});
  draw_hover("Copy its title and its summary.");
  if (ImGui::MenuItem(kMuteRule)) mute_rule(panel, finding);
  draw_hover(kMuteRuleHelp);
  ImGui::EndPopup();
}

// Before a line: its number in the plan, else the shape of its severity.
void draw_mark(const FindingsPanel& panel, Painter& p, const RankedFinding& ranked, ImVec2 at, float line) {
  const std::size_t place = place_in_plan(panel.diagnosis, ranked);
  const float size = panel.px(kShape), x = at.x + panel.px(2);
  if (place > 0) return p.text(Face::bold, {x, at.y}, colour(panel.theme.good), std::to_string(place));
  draw_severity(p, {x + size / 2, at.y + line / 2 + panel.px(1)}, size, ranked.finding.severity, panel.theme);
}

// A line that is clicked as a whole: mark, title, figure; where it is open, the sentence with the numbers below.
bool draw_head(FindingsPanel& panel, const RankedFinding& ranked, bool open, bool chosen) {
  const Finding& finding = ranked.finding;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  Painter p(*ImGui::GetWindowDrawList(), panel.window.frame.scale);
  p.list().ChannelsSplit(2);
  p.list().ChannelsSetCurrent(1);
  ImGui::BeginGroup();
  draw_mark(panel, p, ranked, at, line);
  const std::string title = title_of(panel.diagnosis, *finding.rule);
  const FindingFigure figure = figure_of(panel.diagnosis, ranked);
  const Rgb ink = figure.planned ? panel.theme.good : panel.theme.muted;
  std::string words = std::string(figure.word) + figure.text;
  // Rather all of the title than the word before the figure, but for "then", without which it reads as what is saved.
  const auto room_for_title = [&] { return width - panel.px(kFindingIndent + 10) - text_width(Face::mono, words); };
  if (!figure.planned && text_width(Face::bold, title) > room_for_title()) words = figure.text;
  const float figure_width = text_width(Face::mono, words) + panel.px(2);
  p.text_in(Face::mono, {at.x + width - figure_width, at.y, at.x + width + panel.px(3), at.y + line + panel.px(2)}, colour(ink),
            words);
  ImGui::Indent(panel.px(kFindingIndent));
  push_face(Face::bold);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + room_for_title());  // whole, in as many lines as it takes
  ImGui::TextUnformatted(title.c_str());
  ImGui::PopTextWrapPos();
  pop_face();
  if (open) draw_text(Face::sans, panel.theme.muted, finding.summary, /*wrap=*/true);
  ImGui::Unindent(panel.px(kFindingIndent));
  ImGui::EndGroup();
  const Box box{at.x - panel.px(4), at.y - panel.px(2), at.x + width + panel.px(4), ImGui::GetItemRectMax().y + panel.px(3)};
  ImGui::SetCursorScreenPos({box.x0, box.y0});
#if IMGUI_VERSION_NUM >= 18970
  ImGui::SetNextItemAllowOverlap();
#endif
  const bool clicked = ImGui::InvisibleButton("head", {box.width(), box.height()});
#if IMGUI_VERSION_NUM < 18970
  ImGui::SetItemAllowOverlap();
#endif
  p.list().ChannelsSetCurrent(0);
  if (chosen || ImGui::IsItemHovered()) p.fill_rounded(box, colour(panel.theme.raised, chosen ? 1.0f : 0.6f), p.px(3));
  p.list().ChannelsMerge();
  const std::string gain = words_of_gain(panel.diagnosis, ranked);
  draw_hover(chosen ? "Click for its next place."
             : open ? "Click for its first place."
                    : title + "\n" + printable(finding.summary) + (gain.empty() ? "" : "\n" + gain));
  draw_finding_menu(panel, ranked);
  if (!words.empty() && can_try(ranked) && is_recommended(panel.diagnosis.plan, ranked))
    draw_figure_link(panel, p, ranked,
                     {at.x + width - figure_width, at.y, at.x + width + panel.px(3), at.y + line + panel.px(2)}, ink);
  return clicked;
}

// The first click goes to the first place, further ones from place to place. What is open above stays open: closing it would
// move the line under the pointer.
void choose(FindingsPanel& panel, std::uint32_t finding) {
  FindingState& state = panel.view.finding;
  if (state.chosen == static_cast<std::int32_t>(finding)) return walk_places(panel.document, panel.view, panel.window, 1);
  std::vector<std::uint32_t> open = std::move(state.left_open);
  if (state.chosen >= 0) open.push_back(static_cast<std::uint32_t>(state.chosen));
  open.erase(std::remove(open.begin(), open.end(), finding), open.end());
  const std::vector<std::size_t> places = places_in(panel.diagnosis.findings[finding].finding, panel.view.range);
  go_to_finding(panel.document, panel.view, panel.window, finding, places.empty() ? 0 : places.front());
  state.left_open = std::move(open);
}

// Says that not all findings are here, and gives them back.
void draw_range_note(FindingsPanel& panel, std::size_t shown) {
  if (!panel.view.range) return;
  const std::size_t all = shown_findings(panel.diagnosis, panel.window.settings.findings).size();
  draw_text(Face::sans, panel.theme.muted,
            fmt::format("{} of {} findings in the selected time; figures of the whole trace", shown, all), /*wrap=*/true);
  if (ImGui::SmallButton("All of the trace")) clear_area(panel.view);
  draw_hover("Select no time (Esc), and list the findings of the whole recording.");
}

// Why it is below another one.
std::string how_led(const RankedFinding& f) {
  return f.merged ? "Seen in the same time as the finding above."
                  : fmt::format("{} of it is part of the finding above.", format_duration(f.overlap));
}

void draw_led(const FindingsPanel& panel, const RankedFinding& ranked) {
  ImGui::Indent(panel.px(kFindingIndent));
  draw_text(Face::sans, panel.theme.muted, how_led(ranked), /*wrap=*/true);
  ImGui::Unindent(panel.px(kFindingIndent));
}

void draw_finding(FindingsPanel& panel, const FindingRow& row) {
  const FindingState& state = panel.view.finding;
  const bool chosen = state.chosen == static_cast<std::int32_t>(row.finding);
  const bool open = chosen || std::find(state.left_open.begin(), state.left_open.end(), row.finding) != state.left_open.end();
  const RankedFinding& ranked = panel.diagnosis.findings[row.finding];
  ImGui::PushID(static_cast<int>(row.finding));
  if (row.led) ImGui::Indent(panel.px(kFindingIndent));
  if (chosen && panel.view.signals.reveal_finding) {
    ImGui::SetScrollHereY(0.1f);
    panel.view.signals.reveal_finding = false;
  }
  if (draw_head(panel, ranked, open, chosen)) choose(panel, row.finding);
  if (open && row.led) draw_led(panel, ranked);
  if (open) draw_open_finding(panel, ranked, chosen);
  if (row.led) ImGui::Unindent(panel.px(kFindingIndent));
  ImGui::PopID();
  if (open) ImGui::Spacing();
}

void draw_muted(FindingsPanel& panel) {
  FindingsState& state = panel.window.settings.findings;
  if (state.muted.empty()) return;
  ImGui::Separator();
  draw_text(Face::sans, panel.theme.muted,
            fmt::format("{} of {} muted rules have findings here.", muted_count(panel.diagnosis, state), state.muted.size()),
            true);
  if (!ImGui::SmallButton("Unmute all")) return;
  state.muted.clear();
  panel.out.add(KeepMuted{});
}

void draw_unjudged(FindingsPanel& panel) {
  if (panel.diagnosis.unjudged.empty()) return;
  if (!ImGui::TreeNodeEx("unjudged", ImGuiTreeNodeFlags_NoTreePushOnOpen, "Not judged: %d rules",
                         static_cast<int>(panel.diagnosis.unjudged.size())))
    return;
  std::string_view last;
  for (const Unjudged& u : panel.diagnosis.unjudged) {
    if (u.why != last) draw_text(Face::sans, panel.theme.muted, u.why, /*wrap=*/true);
    last = u.why;
    ImGui::Bullet();
    draw_text(Face::sans, panel.theme.text, title_of(panel.diagnosis, *u.rule), /*wrap=*/true);
  }
}

// What limits the verdict: a line that opens, so that it takes no room from the findings.
void draw_caveat(const std::string& trust, const Theme& theme) {
  if (trust.empty()) return;
  ImGui::PushStyleColor(ImGuiCol_Text, colour(theme.notable));
  const bool open = ImGui::TreeNodeEx("caveat", ImGuiTreeNodeFlags_NoTreePushOnOpen, "With a caveat");
  ImGui::PopStyleColor();
  const std::string words = printable(trust);
  if (open)
    draw_text(Face::sans, theme.notable, words, /*wrap=*/true);
  else
    draw_hover(words);
  ImGui::Spacing();
}

// By the height of the window, not by what the panel below leaves: that opens with a click on a finding, which must not move.
bool is_roomy(const WindowState& window) { return ImGui::GetIO().DisplaySize.y >= kRoomForAll * window.frame.scale; }

// What is said of a whole run, next to one of its ranks: the answer then. Whether there is such a run.
bool draw_run_card(const Document& document, TraceView& view, WindowState& window) {
  const std::string run = run_sentence(window.ranks, document.trace.path);
  if (run.empty()) return false;
  draw_text(Face::bold, theme_of(window).text, printable(run), /*wrap=*/true);
  if (ImGui::SmallButton("Show##run")) jump_to_panel(view, window, "ranks");
  draw_hover("Show the ranks on one axis.");
  ImGui::Separator();
  return true;
}

// The answer, with a button that shows its cause. Its height depends on the document and the width alone. Whether it says what
// the verdict says.
bool draw_answer_card(const Document& document, TraceView& view, WindowState& window) {
  const Headline* headline = document.headline();
  if (headline == nullptr) return false;
  const Theme& theme = theme_of(window);
  if (const std::string of = part_of_what_is_open(document, window); !of.empty()) draw_text(Face::bold, theme.muted, of);
  RecordedRun recorded;  // a walk over the steps, made once a document
  if (const TraceSession* session = document.analysis())
    recorded = *session->fact<RecordedRun>([&] { return std::make_unique<const RecordedRun>(recorded_run(*session)); });
  const AnswerCard card = answer_card(document.trace, *headline, document.diagnosis(), recorded);
  const auto line = [&](Face face, Rgb ink, const std::string& text) {
    if (!text.empty()) draw_text(face, ink, printable(text), /*wrap=*/true);
  };
  line(Face::bold, theme.text, card.what);
  if (!card.cause.empty()) {
    line(Face::sans, theme.text, card.cause);
    line(Face::sans, card.after > 0 ? theme.good : theme.text, card.figure);  // what it saves, or what it costs
  }
  if (card.code.empty())
    line(Face::sans, theme.text, card.remedy);
  else
    line(Face::mono, theme.text, card.code);
  if (card.finding >= 0) {
    // Its label says all: a tooltip would cover the line of code above.
    if (ImGui::SmallButton("Show first place##answer"))
      show_finding(document, view, window, static_cast<std::uint32_t>(card.finding));
    ImGui::SameLine();
  }
  line(Face::sans, theme.muted, card.then);
  line(Face::sans, theme.muted, card.line_hint);
  ImGui::Separator();
  return !card.what.empty() && card.doubt.empty();
}

// `is_said`: by the answer, the mark at the top and the account below.
void draw_verdict(const Headline& headline, bool is_said, const Document& document, TraceView& view, WindowState& window) {
  const Theme& theme = theme_of(window);
  const VerdictWords& words = headline.words;
  if (!is_said || !is_roomy(window)) {
    draw_text(Face::sans, theme.text, words.what, /*wrap=*/true);
    if (!headline.plain) draw_hover(headline.verdict);
  }
  if (!words.caveat.empty()) draw_text(Face::sans, theme.muted, words.caveat, /*wrap=*/true);
  draw_caveat(headline.trust, theme);
  ImGui::Spacing();
  if (!is_roomy(window)) return;
  draw_account(document, view, window, kAccountWords, AccountDrawing::first);
  ImGui::Spacing();
}

// Says what the times of the plan begin with.
void draw_planned_heading(const FindingsPanel& panel) {
  const Plan& plan = panel.diagnosis.plan;
  const std::string now = "now " + format_duration(plan.length(plan.run)) + (plan.step.steps > 0 ? " a step" : "");
  ImGui::BeginGroup();
  draw_text(Face::bold, panel.theme.text, kPlannedHeading);
  ImGui::SameLine(0, panel.px(12));
  if (ImGui::GetContentRegionAvail().x < text_width(Face::mono, now)) ImGui::NewLine();
  draw_text_right(Face::mono, panel.theme.muted, now);
  ImGui::EndGroup();
  draw_hover(
      "The plan of the tab Overview. Each time is that of the run with this remedy and those above it. A more certain remedy, "
      "or one that a later remedy needs, comes before one that saves more.");
}

void draw_kinds(const FindingsPanel& panel) {
  bool loud = !panel.window.settings.findings.quiet;
  if (draw_checkbox("informational", &loud)) panel.window.settings.findings.quiet = !loud;
  draw_hover("Also findings that are not problems: good signs, and notes on the recording.");
  ImGui::SameLine();
  draw_checkbox("notes", &panel.window.settings.findings.explain);
  draw_hover("All notes: also explanations of the trace, and time that a finding above already counts.");
}

void draw_verdict_and_list(const Document& document, bool is_said, TraceView& view, WindowState& window, Requests& out) {
  const Theme& theme = theme_of(window);
  const Diagnosis* diagnosis = document.diagnosis();
  if (document.headline()) draw_verdict(*document.headline(), is_said, document, view, window);
  if (!diagnosis) return draw_absence(window, "Running the rules...");
  FindingsPanel panel{document, *diagnosis, view, window, out, theme};
  const std::vector<FindingRow> rows = shown_findings(*diagnosis, window.settings.findings, view.range);
  draw_range_note(panel, rows.size());
  ImGui::Separator();
  ImGui::Spacing();
  const FindingOrder order(*diagnosis);
  std::string_view last;
  for (const FindingRow& row : rows) {
    if (const std::string_view heading = order.heading(row.finding); !row.led && heading != last) {
      const Severity severity = diagnosis->findings[row.finding].finding.severity;
      if (heading == kPlannedHeading)
        draw_planned_heading(panel);
      else
        draw_text(Face::bold, severity_colour(severity, theme), heading);
      ImGui::Spacing();
      last = heading;
    }
    draw_finding(panel, row);
  }
  if (rows.empty() && view.range) draw_absence(window, "No rule has a finding in the selected time.");
  if (diagnosis->plain && !rows.empty()) draw_text(Face::sans, theme.muted, kFiguresAsRecorded, /*wrap=*/true);
  draw_muted(panel);
  draw_unjudged(panel);
  draw_kinds(panel);
  if (ImGui::SmallButton("As SQL")) open_as_sql(window, kFindingsAsSql);
  draw_hover("Show the query that gives every finding.");
}

}  // namespace

bool draws_account(const WindowState& window) { return is_inspector_shown(window) && is_roomy(window); }

void draw_findings(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "findings follow")) return;
  if (!document.diagnosis()) {
    ask(document, AnalysisQuestion{}, out);
    if (draw_trouble<AnalysisQuestion>(document, window)) return;
  }
  const bool of_run = draw_run_card(document, view, window);
  bool is_said = !of_run && draw_answer_card(document, view, window);
  const bool card_stays = is_roomy(window);  // in sight; else all scrolls
  // A scroll bar that comes and goes would wrap the lines anew.
  if (card_stays) ImGui::BeginChild("list", {0, 0}, false, ImGuiWindowFlags_AlwaysVerticalScrollbar);
  if (of_run) is_said = draw_answer_card(document, view, window);
  draw_verdict_and_list(document, is_said, view, window, out);
  if (card_stays) ImGui::EndChild();
}

void draw_answer(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (is_inspector_shown(window)) return draw_absence(window, "It is open at the right. B hides it there.");
  draw_findings(document, view, window, out);
}

std::string part_of_what_is_open(const Document& document, const WindowState& window) {
  if (window.compare.open) return window.compare.side == TraceSide::a ? "Trace A alone" : "Trace B alone";
  if (run_sentence(window.ranks, document.trace.path).empty()) return {};
  return fmt::format("Rank {} alone", rank_of(document.trace.header).rank);
}

}  // namespace gapscope
