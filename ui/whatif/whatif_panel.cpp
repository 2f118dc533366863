// The tab "What if": changes at the left, what they give, the plan, and what holds the run back. Over
// core/view/whatif/whatif_model.h.
#include "ui/whatif/whatif_panel.h"
#include "core/view/document.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "core/analyze/account/time_account.h"
#include "core/analyze/steps.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/guide.h"
#include "core/replay/limits.h"
#include "core/view/findings/findings_model.h"
#include "core/view/ranks/ranks_model.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/time_view.h"
#include "core/view/whatif/run_what_if_model.h"
#include "ui/panels.h"
#include "ui/ranks/ranks_panel.h"
#include "ui/whatif/step_lengths.h"
#include "ui/widgets/charts.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kLeastSection = 340;  // px at scale 1 of a column
constexpr std::size_t kMostSections = 4;
constexpr float kBusyBar = 10;  // px at scale 1
constexpr std::size_t kSumsShown = 14, kLateRanksShown = 6;
constexpr float kTickWidth = 28;       // px at scale 1, what stands below the words behind a tick is moved in by
constexpr double kWorthTelling = 0.1;  // of the run: time outside it
constexpr int kMostPercent = static_cast<int>(100 * kMostWhatIfFactor);

struct WhatIfTab {
  const Document& document;
  TraceView& view;
  WindowState& window;
  Requests& out;
  const Theme& theme;
  const ReplayBase& base;
  const WhatIfAnswer* answer;  // null before the first
  WhatIfState& state;
  float px(float size) const { return std::round(size * window.frame.scale); }
  // The run that the tab is about: with the changes, or as it is.
  const ReplayedRun& run() const { return answer && !answer->changes.empty() ? answer->after : base.now; }
  bool is_behind() const { return answer ? !(answer->changes == state.changes) : !state.changes.empty(); }
};

void toggle(const char* title, const char* help, bool& on) {
  draw_checkbox(title, &on);
  draw_hover(help);
}

constexpr const char* kGpuTook = "GPU work took";
constexpr const char* kHostTook = "the host took";

// Past the longer of what stands before the sliders.
float slider_at(const WhatIfTab& tab) {
  return std::ceil(std::max(text_width(Face::sans, kGpuTook), text_width(Face::sans, kHostTook))) + tab.px(8);
}

// A share of the recorded time, 100 % as it was.
void draw_percent(const WhatIfTab& tab, const char* what, const char* help, double& factor) {
  int percent = static_cast<int>(std::lround(100 * factor));
  ImGui::PushID(what);
  ImGui::AlignTextToFramePadding();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_text(Face::sans, tab.theme.text, what);
  ImGui::SameLine();
  ImGui::SetCursorScreenPos({at.x + slider_at(tab), at.y});
  // The number stands behind it: in it the handle would lie over the words.
  const float number = text_width(Face::mono, fmt::format("{} %", kMostPercent)) + tab.px(8);
  ImGui::SetNextItemWidth(-number);
  if (ImGui::SliderInt("##percent", &percent, 0, kMostPercent, "", ImGuiSliderFlags_AlwaysClamp))
    factor = static_cast<double>(percent) / 100;
  tab.state.held |= ImGui::IsItemActive();
  if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(1)) factor = 1;
  draw_hover(help);
  ImGui::SameLine(0, tab.px(8));
  draw_text_right(Face::mono, tab.theme.text, fmt::format("{} %", std::lround(100 * factor)));
  ImGui::PopID();
}

std::size_t letters_in(float width) {
  return static_cast<std::size_t>(std::max(6.0f, width / std::max(1.0f, text_width(Face::mono, "m"))));
}

// What was drawn last is about a finding: a click leads there.
void lead_to_finding(const WhatIfTab& tab, std::int32_t finding, std::string_view words) {
  draw_hover(std::string(words) + (words.empty() ? "" : "\n") + "Click for its finding.");
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (ImGui::IsItemClicked()) show_finding(tab.document, tab.view, tab.window, static_cast<std::uint32_t>(finding));
}

void draw_items(const WhatIfTab& tab) {
  std::vector<WhatIfItem>& items = tab.state.changes.items;
  std::optional<std::size_t> gone;
  for (std::size_t i = 0; i < items.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::SmallButton("x")) gone = i;
    draw_hover("Remove this change.");
    ImGui::SameLine(0, tab.px(6));
    const ItemWords words = words_of(tab.document, items[i]);
    const bool of_finding = items[i].of == WhatIfItem::Of::finding;
    draw_text(Face::mono, of_finding ? tab.theme.accent : tab.theme.text,
              elide_middle(words.title, letters_in(ImGui::GetContentRegionAvail().x)));
    if (of_finding)
      lead_to_finding(tab, items[i].finding, words.title);
    else
      draw_hover(words.title);
    ImGui::Indent(tab.px(22));
    draw_text(Face::sans, tab.theme.muted, words.what, /*wrap=*/true);
    ImGui::Unindent(tab.px(22));
    ImGui::PopID();
  }
  if (gone) remove_item(tab.state.changes, *gone);
}

void draw_changes(const WhatIfTab& tab) {
  WhatIfChanges& changes = tab.state.changes;
  draw_text(Face::bold, tab.theme.text, "What if");
  const std::optional<RunWhatIfQuestion>& of_run = asked<RunWhatIfQuestion>(tab.document).question;
  if (const bool run_changes = of_run && !of_run->changes_nothing(); run_changes || !changes.empty()) {
    ImGui::SameLine(0, tab.px(12));
    if (ImGui::SmallButton("Reset")) {
      changes = {};
      if (run_changes) ask(tab.document, RunWhatIfQuestion{of_run->run, {}, 0}, tab.out);
    }
    draw_hover("Remove all changes.");
  } else if (const char* other = "or right-click a slice, gap or kernel";
             text_width(Face::sans, other) + tab.px(12) <
             ImGui::GetContentRegionAvail().x - text_width(Face::bold, "What if")) {
    ImGui::SameLine(0, tab.px(12));
    draw_text(Face::sans, tab.theme.muted, other);
    draw_hover("What if only this took no time? Its menu leads here. So does a tick in the plan.");
  }
  draw_items(tab);  // above what may be added: what is assumed already is never out of sight
  draw_percent(tab, kGpuTook,
               "Every kernel, copy and memset. 50 % is a GPU twice as fast. Ctrl and a click types a number, a right click "
               "resets to 100 %.",
               changes.gpu);
  draw_percent(tab, kHostTook, "All host time except waiting. Ctrl and a click types a number, a right click resets to 100 %.",
               changes.host);
  toggle("the host never waited", "Calls that wait for the GPU return at once.", changes.no_wait);
  toggle("each step were one graph",
         "All launches of a step take the time of its first one. Synchronizations between them stay, but a capture does not "
         "allow them.",
         changes.graph);
  ImGui::Indent(tab.px(kTickWidth));
  draw_text(Face::sans, tab.theme.muted,
            "at most" + once_waits_are_gone(tab.run().waits_inside, tab.base.model->step_share().steps), /*wrap=*/true);
  ImGui::Unindent(tab.px(kTickWidth));
  toggle("copies delayed nothing", "Work after a copy in its queue does not wait for it.", changes.overlap_copies);
  toggle("kernels reached their roofline",
         "Kernels take no longer than their operations and bytes need, by their recorded shapes.", changes.roofline);
}

// Of a run of several ranks that is open, with the changes that are of ranks.
void draw_run(const WhatIfTab& tab) {
  RanksState& ranks = tab.window.ranks;
  ask_for_run(tab.document, ranks, tab.out);
  const std::shared_ptr<const RanksAnswer>& run = ranks.last;
  const auto is_open = [&](const RankData& rank) { return rank.file == tab.document.trace.path; };
  if (!run || !can_replay(run->report) || std::none_of(run->report.run.ranks.begin(), run->report.run.ranks.end(), is_open))
    return;
  const std::optional<RunWhatIfQuestion>& last = asked<RunWhatIfQuestion>(tab.document).question;
  RunWhatIfQuestion question = last && last->run == run ? *last : RunWhatIfQuestion{run, {}, 0};
  draw_text(Face::bold, tab.theme.text, "All ranks together");
  for (const std::int64_t rank : late_ranks(run->report, kLateRanksShown)) {
    bool on = std::binary_search(question.never_late.begin(), question.never_late.end(), rank);
    if (draw_checkbox(fmt::format("rank {} were never late", rank).c_str(), &on)) set_never_late(question, rank, on);
    draw_hover("No collective waits for it: the work that makes it late takes no time.");
  }
  ImGui::SetNextItemWidth(-1);
  ImGui::SliderInt("##link", &question.link, 0, kMostLinkRate, question.link == 0 ? "links as recorded" : "links move %d GB/s",
                   ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_Logarithmic);
  if (ImGui::IsItemClicked(ImGuiMouseButton_Right)) question.link = 0;
  draw_hover("Bus bandwidth of every link, as in the tab Ranks. At the left end, or after a right click: as recorded.");
  if (!question.changes_nothing() || last) ask(tab.document, question, tab.out);
  const auto answer = answer_to<RunWhatIfQuestion>(tab.document);
  if (answer && !answer->question.changes_nothing()) {
    draw_text(
        Face::sans, tab.theme.text,
        length_words(answer->replay.before, answer->replay.after, fmt::format(" of {} ranks", answer->replay.ranks.size())),
        /*wrap=*/true);
    draw_text(Face::sans, tab.theme.text, late_words(*answer), /*wrap=*/true);
  }
  ImGui::Spacing();
}

void draw_busy(const WhatIfTab& tab, const std::string& what, float bar_at, double share, Rgb ink) {
  Painter p(*ImGui::GetWindowDrawList(), tab.window.frame.scale);
  const ImVec2 from = ImGui::GetCursorScreenPos(), at{from.x + bar_at, from.y};
  draw_text(Face::sans, tab.theme.muted, what);
  const std::string number = format_percent(share);
  ImGui::SameLine();
  ImGui::SetCursorScreenPos(at);
  const float end = ImGui::GetContentRegionAvail().x - text_width(Face::mono, "100.0 %") - tab.px(8);
  const float top = std::floor((ImGui::GetTextLineHeight() - tab.px(kBusyBar)) / 2);
  if (end > tab.px(20)) {
    const Box box{at.x, at.y + top, at.x + end, at.y + top + tab.px(kBusyBar)};
    p.fill(box, colour(tab.theme.raised));
    p.fill({box.x0, box.y0, box.x0 + std::round(end * static_cast<float>(std::clamp(share, 0.0, 1.0))), box.y1}, colour(ink));
  }
  draw_text_right(Face::mono, tab.theme.text, number);
}

void draw_limits(const WhatIfTab& tab) {
  draw_text(Face::sans, tab.theme.muted,
            replay_limits(tab.base.profiler, tab.base.model->clocks_at_once(), tab.base.plain != nullptr), /*wrap=*/true);
  const GuideSection section = guide_section("whatif");
  if (section.text.empty() || !ImGui::TreeNodeEx("How gains are predicted", ImGuiTreeNodeFlags_NoTreePushOnOpen)) return;
  for (const auto& paragraph : guide_paragraphs(section.text)) {
    std::string text;
    for (const GuideWords& words : paragraph) text += words.text;
    std::replace(text.begin(), text.end(), '\n', ' ');
    draw_text(Face::sans, tab.theme.text, text, /*wrap=*/true);
    ImGui::Spacing();
  }
}

void draw_result(const WhatIfTab& tab) {
  const ReplayedRun& run = tab.run();
  const ReplayResult& result = run.result;
  const bool changed = &run != &tab.base.now;
  const StepShare& step = tab.base.step;
  draw_text(Face::bold, tab.theme.text, changed ? "Then" : tab.base.plain ? "Now, without the profiler" : "Now");
  if (changed) {
    ImGui::SameLine(0, tab.px(12));
    toggle("in the timeline", "Show the replayed GPUs above the lanes, at the same zoom.", tab.state.ghost);
  }
  if (tab.is_behind()) {
    ImGui::SameLine();
    draw_text(Face::sans, tab.theme.muted, "replaying...");
  }
  const std::string unit = step.steps > 0 ? " a step" : " from the first call to the last work";
  draw_text(Face::sans, tab.theme.text,
            changed ? length_words(step.length(result.before), step.length(result.after), unit)
                    : format_duration(step.length(result.before)) + unit,
            /*wrap=*/true);
  const TimeAccount* account = account_of(tab.document);
  if (const Ns before = account && step.steps == 0 ? account->window().length() - result.before : 0;
      static_cast<double>(before) > kWorthTelling * static_cast<double>(result.before))
    draw_text(Face::sans, tab.theme.muted,
              "The " + format_duration(before) + " of the window before that call are not part of it.", /*wrap=*/true);
  draw_step_lengths(tab.document, tab.view, tab.window, step_lengths(tab.base, run), changed);
  const std::string gpu = fmt::format("GPU {} busy", run.busy.device);
  const float bar_at = text_width(Face::sans, gpu) + tab.px(10);
  draw_busy(tab, gpu, bar_at, step.part(run.busy.before, result.before), tab.theme.muted);
  if (changed) draw_busy(tab, "then busy", bar_at, step.part(run.busy.after, result.after), tab.theme.good);
  if (changed) {
    std::string next(bound_name(run.next));
    next[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(next[0])));
    draw_text(Face::sans, tab.theme.text, "then " + next, /*wrap=*/true);
  }
  ImGui::Spacing();
  draw_limits(tab);
}

void draw_plan(const WhatIfTab& tab) {
  const Diagnosis& diagnosis = *tab.document.diagnosis();
  const std::vector<PlanLine> lines = plan_lines(diagnosis);
  draw_text(Face::bold, tab.theme.text, "The plan: one after the other");
  draw_hover(
      "The remedy that saves most, then the one that saves most after it, until less than 2 % is left. An estimate (\"about\") "
      "comes before an upper limit (\"up to\") that saves no more after it. A CUDA graph comes after the estimates and after "
      "the removal of synchronizations that forbid its capture. The roofline comes last.");
  if (lines.empty()) draw_text(Face::sans, tab.theme.muted, kNoRemedyToReplay, /*wrap=*/true);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_item = i > 0 && i <= diagnosis.plan.items.size();
    ImGui::PushID(static_cast<int>(i));
    if (is_item) {
      const std::int32_t finding = diagnosis.plan.items[i - 1].finding;
      bool on = has_finding(tab.state.changes, finding);
      if (draw_checkbox("##tick", &on)) set_finding(tab.state.changes, finding, on);
      draw_hover("Replay the recording with this remedy.");
      ImGui::SameLine();
      draw_text(Face::sans, tab.theme.accent, lines[i].what, /*wrap=*/true);
      lead_to_finding(tab, finding, {});
      ImGui::Indent(tab.px(kTickWidth));
      draw_text(Face::sans, tab.theme.muted, lines[i].value, /*wrap=*/true);
      ImGui::Unindent(tab.px(kTickWidth));
    } else {
      draw_text(Face::sans, tab.theme.muted, lines[i].what + ": " + lines[i].value, /*wrap=*/true);
    }
    ImGui::PopID();
  }
  if (!diagnosis.plan.items.empty()) draw_text(Face::sans, tab.theme.muted, kGainLegend, /*wrap=*/true);
}

void draw_path_bar(const WhatIfTab& tab, const ReplayedRun& run) {
  Painter p(*ImGui::GetWindowDrawList(), tab.window.frame.scale);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(1.0f, ImGui::GetContentRegionAvail().x), height = tab.px(14);
  std::array<BarPart, kHeldBy> parts;
  for (std::size_t i = 0; i < kHeldBy; ++i)
    parts[i] = {held_colour(static_cast<HeldBy>(i), tab.window),
                static_cast<double>(run.held[i]) / static_cast<double>(std::max<Ns>(run.result.after, 1))};
  ImGui::Dummy({width, height});
  draw_stack(p, {at.x, at.y, at.x + width, at.y + height}, parts);
}

void draw_path(const WhatIfTab& tab) {
  const ReplayedRun& run = tab.run();
  draw_text(Face::bold, tab.theme.text, "Bottlenecks");
  draw_hover(
      "The critical path: from the end of the run back, each time to the work that was waited for. Its parts add up to the "
      "run.");
  ImGui::SameLine();
  draw_checkbox("in the timeline", &tab.state.path);
  draw_hover("Show it as a row above the lanes, and mark its slices.");
  draw_path_bar(tab, run);
  const auto line = [&](Rgb ink, const std::string& words, Ns time, Face face) {
    const std::string figure = fmt::format(
        "{:>7} {:>9}", format_percent(static_cast<double>(time) / static_cast<double>(std::max<Ns>(run.result.after, 1))),
        format_duration(time));
    draw_legend(ink, "", tab.window);
    ImGui::SameLine(0, tab.px(2));
    const float room = ImGui::GetContentRegionAvail().x - text_width(Face::mono, figure) - tab.px(8);
    draw_text(face, tab.theme.text, elide_middle(words, std::max<std::size_t>(8, letters_in(room))));
    draw_hover(words);
    ImGui::SameLine();
    draw_text_right(Face::mono, tab.theme.muted, figure);
  };
  for (std::size_t i = 0; i < kHeldBy; ++i)
    if (run.held[i] > 0)
      line(held_colour(static_cast<HeldBy>(i), tab.window), std::string(held_by_words(static_cast<HeldBy>(i))), run.held[i],
           Face::sans);
  ImGui::Spacing();
  draw_text(Face::bold, tab.theme.muted, "by name");
  for (std::size_t i = 0; i < std::min(run.sums.size(), kSumsShown); ++i)
    line(held_colour(run.sums[i].by, tab.window), path_sum_words(tab.document.trace, run.sums[i]), run.sums[i].time,
         Face::mono);
}

void draw_run_and_changes(const WhatIfTab& tab) {
  draw_run(tab);
  draw_changes(tab);
}

using DrawSection = void (*)(const WhatIfTab&);
constexpr std::array<DrawSection, 4> kSections = {draw_run_and_changes, draw_result, draw_plan, draw_path};
// In which of so many columns each section stands.
constexpr std::array<std::array<std::size_t, 4>, kMostSections> kColumnOf = {
    {{0, 0, 0, 0}, {0, 1, 0, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}};

void draw_sections(const WhatIfTab& tab) {
  const auto columns = std::clamp<std::size_t>(
      static_cast<std::size_t>(ImGui::GetContentRegionAvail().x / (kLeastSection * tab.window.frame.scale)), 1, kMostSections);
  ImGui::BeginChild("page");
  if (ImGui::BeginTable("sections", static_cast<int>(columns),
                        ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingStretchSame | ImGuiTableFlags_PadOuterX)) {
    ImGui::TableNextRow();
    for (std::size_t c = 0; c < columns; ++c) {
      ImGui::TableNextColumn();
      for (std::size_t i = 0; i < kSections.size(); ++i) {
        if (kColumnOf[columns - 1][i] != c) continue;
        ImGui::PushID(static_cast<int>(i));
        kSections[i](tab);
        ImGui::Spacing();
        ImGui::PopID();
      }
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
}

}  // namespace

void draw_what_if(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "replays follow")) return;
  if (!document.diagnosis()) return draw_working(document, window, "the effect of a change", out);
  ask_for_replays(document, view, /*tab_in_front=*/true, out);
  if (draw_trouble<ReplayBaseQuestion>(document, window) || draw_trouble<WhatIfQuestion>(document, window)) return;
  const auto base = answer_to<ReplayBaseQuestion>(document);
  if (!base) return draw_absence(window, "Preparing replays...");
  if (base->model->empty()) return draw_absence(window, kNothingToReplay);
  const auto answer = answer_to<WhatIfQuestion>(document);
  view.what_if.held = false;
  draw_sections({document, view, window, out, theme_of(window), *base, answer.get(), view.what_if});
}

}  // namespace gapscope
