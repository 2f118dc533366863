// Above two compared timelines: what changed from A to B, and for each its file, its verdict and its account.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/base/text.h"
#include "core/view/compare/compare_headline.h"
#include "core/view/document.h"
#include "ui/compare/compare_view.h"
#include "ui/timeline/kernel_mark_paint.h"
#include "ui/widgets/account_bar.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kBar = 6;       // px at scale 1 of a header: the account of the GPU
constexpr float kChoice = 114;  // of the choice of a step
constexpr float kLeastWords = 60;
constexpr float kSwatch = 10;
constexpr float kLeastName = 0.3f;      // of a header's width
constexpr float kShortName = 0.2f;      // where a trace's words have no room else
constexpr float kNameGap = 16;          // between a header's name and its words
constexpr float kLeastForLegend = 170;  // that stay for the words: "GPU busy 8.6 % -> 66 %"

std::string file_name(const Document& document) {
  return printable(std::filesystem::path(document.trace.path).filename().string());
}

// What the step choice offers, in one list for both traces.
void draw_step_choice(const ComparedTimelines& two, const Document& b, WindowState& window) {
  CompareOptions& options = window.compare.options;
  const auto offer = [&](const CompareOptions& choice) {
    const bool chosen = same_options(choice, options);
    if (ImGui::Selectable(options_text(choice).c_str(), chosen)) options = choice;
  };
  const ComparisonAnswer* answer = window.compare.answer.get();
  if (answer && answer->error.empty() && answer->comparison.of_whole() && options.pick == StepPick::median) {
    ImGui::AlignTextToFramePadding();
    draw_text(Face::sans, theme_of(window).text, "their begin");
    return draw_hover("Neither trace has marked steps: each is compared as a whole.");
  }
  if (ImGui::BeginCombo("##step", options_text(options).c_str())) {
    offer({StepPick::median, 0, options.annotation});
    offer({StepPick::all, 0, options.annotation});
    for (const std::int64_t number : common_steps(two.a, b)) offer({StepPick::number, number, options.annotation});
    ImGui::EndCombo();
  }
  draw_hover(
      "The step to compare and to align the traces on: the step with the median CPU time in each, all steps, or a step that "
      "both have.");
}

// As many of the pieces as there is room for, the most telling first.
std::string words_in(Painter& p, Face face, const std::vector<std::string>& pieces, float room) {
  std::string words;
  for (const std::string& piece : pieces) {
    const std::string more = words.empty() ? piece : words + "   \xC2\xB7   " + piece;
    if (!words.empty() && p.text_width(face, more) > room) break;
    words = more;
  }
  return words;
}

// As much of a file's name as there is room for: its ending goes first.
std::string name_in(Painter& p, const std::string& name, float room) {
  const auto fits = [&](const std::string& text) { return p.text_width(Face::bold, text) <= room; };
  if (fits(name)) return name;
  const std::string stem = name.substr(0, name.find(".json"));
  std::string cut = stem;
  for (std::size_t most = stem.size(); most > 1 && !fits(cut);) cut = elide_middle(stem, --most);
  return cut;
}

// What follows the name of a trace: in brief where the name has too little room for more.
std::string side_words(Painter& p, const Document& document, const std::string& name, float width) {
  std::string words;
  for (const auto& [least, brief] : {std::pair(kLeastName, false), std::pair(kLeastName, true), std::pair(kShortName, true)}) {
    const float room = width - p.px(kNameGap) - p.text_width(Face::bold, name_in(p, name, width * least));
    const std::vector<std::string> pieces = side_headline(document, brief);
    words = words_in(p, Face::sans, pieces, room);
    if (words == words_in(p, Face::sans, pieces, std::numeric_limits<float>::max())) break;
  }
  return words;
}

struct LegendEntry {
  KernelMark mark;
  bool in_a;
  std::string words;
};

// "~ 2 -> 1 changed", "+ 1 added", "- 3 gone": GPU operations of the compared steps.
std::vector<LegendEntry> legend_of(const ComparisonAnswer* answer) {
  std::vector<LegendEntry> out;
  if (!answer || !answer->error.empty()) return out;
  const MarkCounts n = mark_counts(answer->comparison);
  const auto count = [](std::uint32_t c) { return format_count(c); };
  if (n.changed_a + n.changed_b > 0)
    out.push_back(
        {KernelMark::changed, true,
         (n.changed_a == n.changed_b ? count(n.changed_a) : count(n.changed_a) + " -> " + count(n.changed_b)) + " changed"});
  if (n.added > 0) out.push_back({KernelMark::only, false, count(n.added) + " added"});
  if (n.gone > 0) out.push_back({KernelMark::only, true, count(n.gone) + " gone"});
  return out;
}

float legend_width(Painter& p, const std::vector<LegendEntry>& legend) {
  float width = 0;
  for (const LegendEntry& entry : legend)
    width += p.px(kSwatch) + p.px(6) + p.text_width(Face::sans, mark_sign(entry.mark, entry.in_a) + entry.words) + p.px(12);
  return width;
}

// A click switches the colours off and on.
void draw_legend(Painter& p, const std::vector<LegendEntry>& legend, const Box& box, WindowState& window) {
  const Theme& theme = theme_of(window);
  const bool on = window.compare.colour_changes;
  ImGui::SetCursorScreenPos({box.x0, box.y0});
  if (ImGui::InvisibleButton("legend", {box.width(), box.height()})) window.compare.colour_changes = !on;
  draw_hover(
      "Compared GPU operations by their change, in these colours on the lanes. Unchanged ones are dimmed. Click to switch "
      "between these and the kernels' own colours.");
  float x = box.x0;
  for (const LegendEntry& entry : legend) {
    const float top = std::floor((box.y0 + box.y1 - p.px(kSwatch)) / 2);
    p.fill({x, top, x + p.px(kSwatch), top + p.px(kSwatch)},
           colour(mark_paint(theme, entry.mark, entry.in_a).fill, on ? 1.0f : 0.3f));
    x += p.px(kSwatch) + p.px(6);
    const std::string words = mark_sign(entry.mark, entry.in_a) + entry.words;
    p.text_in(Face::sans, {x, box.y0, box.x1, box.y1}, colour(on ? theme.text : theme.muted), words);
    x += p.text_width(Face::sans, words) + p.px(12);
  }
}

}  // namespace

// What changed at the left, what can be done with the two at the right.
void CompareView::draw_strip(const ComparedTimelines& two, WindowState& window, const Box& box, Requests& out) {
  if (box.height() < 1) return;
  const Theme& theme = theme_of(window);
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  p.fill(box, colour(theme.surface));
  const float gap = p.px(4), padding = p.px(6);
  const auto button_width = [&](const char* title) { return p.text_width(Face::sans, title) + 2 * padding; };
  const char* aligned = "aligned on";
  const float controls = p.text_width(Face::sans, aligned) + p.px(8) + p.px(kChoice) + gap + button_width("Swap") + gap +
                         button_width("Close B") + p.px(8);
  float x = box.x1 - controls;
  const std::vector<LegendEntry> legend = legend_of(window.compare.answer.get());
  const float words_x = box.x0 + p.px(8), legend_x = x - p.px(12) - legend_width(p, legend);
  const bool with_legend = !legend.empty() && legend_x - words_x >= p.px(kLeastForLegend);
  if (with_legend) draw_legend(p, legend, {legend_x, box.y0, x - p.px(12), box.y1}, window);
  const float room = (with_legend ? legend_x : x) - words_x - p.px(12);
  const std::vector<std::string> pieces = change_headline(two.a, *document_, window.compare.answer.get());
  if (room >= p.px(kLeastWords) && !pieces.empty()) {
    p.text_in(Face::bold, {words_x, box.y0, words_x + room, box.y1}, colour(theme.text), words_in(p, Face::bold, pieces, room));
    ImGui::SetCursorScreenPos({words_x, box.y0});
    ImGui::InvisibleButton("changes", {room, box.height()});
    std::string all;
    for (const std::string& piece : pieces) all += (all.empty() ? "" : "\n") + piece;
    draw_hover(all);
  }
  p.text_in(Face::sans, {x, box.y0, box.x1, box.y1}, colour(theme.muted), aligned);
  x += p.text_width(Face::sans, aligned) + p.px(8);
  ImGui::PushStyleColor(ImGuiCol_Button, colour(theme.raised));
  ImGui::PushStyleColor(ImGuiCol_FrameBg, colour(theme.raised));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      {padding, std::max(0.0f, std::floor((box.height() - p.px(4) - ImGui::GetFontSize()) / 2))});
  ImGui::SetCursorScreenPos({x, box.y0 + p.px(2)});
  ImGui::SetNextItemWidth(p.px(kChoice));
  draw_step_choice(two, *document_, window);
  ImGui::SameLine(0, gap);
  if (ImGui::Button("Swap")) out.add(SwapTraces{});
  draw_hover(command(CommandId::swap_traces).help);
  ImGui::SameLine(0, gap);
  if (ImGui::Button("Close B")) out.add(CloseSecond{});
  draw_hover(command(CommandId::close_beside).help);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(2);
}

void CompareView::draw_header(TraceSide side, const ComparedTimelines& two, ViewState& view, Box box) {
  if (box.height() < 1) return;
  const Theme& theme = theme_of(view.window);
  const Document& document = document_of(side, two);
  Painter p(*ImGui::GetWindowDrawList(), view.window.frame.scale);
  const bool acts = view.window.compare.side == side;
  const char* letter = side == TraceSide::a ? "A" : "B";
  p.fill(box, colour(theme.raised));
  const TimeAccount* account = account_of(document);
  const Box bar{box.x0, box.y1 - p.px(kBar), box.x1, box.y1};
  if (account && account->busiest()) {
    const DeviceAccount& device = *account->busiest();
    const std::optional<AccountPart> part =
        draw_account_bar(bar, {document, device, device.window, device.times}, view.of(side), view.window);
    if (part) go_to_part(document, view.of(side), view.window, device, *part);
  }
  box.y1 = bar.y0;
  if (box.height() < 1) return;  // the bar took it all: no place for a button
  const Box badge{box.x0 + p.px(8), box.y0 + p.px(3), box.x0 + p.px(26), box.y1 - p.px(2)};
  p.fill_rounded(badge, colour(acts ? theme.accent : theme.muted, acts ? 1.0f : 0.35f), p.px(3));
  const float letter_width = p.text_width(Face::bold, letter);
  p.text_in(Face::bold, {badge.x0 + (badge.width() - letter_width) / 2, badge.y0, badge.x1, badge.y1},
            colour(acts ? theme.background : theme.text), letter);
  const float x = badge.x1 + p.px(8), x1 = box.x1 - p.px(8);
  const std::string whole = file_name(document), words = side_words(p, document, whole, x1 - x);
  const float words_width = p.text_width(Face::sans, words);
  const std::string name = name_in(p, whole, x1 - x - p.px(kNameGap) - words_width);
  const float words_x = x + p.text_width(Face::bold, name) + p.px(kNameGap);
  p.text_in(Face::bold, {x, box.y0, words_x, box.y1}, colour(theme.text), name);
  p.text_in(Face::sans, {words_x, box.y0, x1, box.y1}, colour(theme.text), words);
  ImGui::SetCursorScreenPos({badge.x0, box.y0});
  ImGui::InvisibleButton("header", {std::max(1.0f, x1 - badge.x0), box.height()});
  if (ImGui::IsItemClicked() && !acts) view.window.compare.turn = true;
  std::string hover = printable(document.trace.path);
  if (const Diagnosis* of = document.diagnosis()) hover += "\n" + printable(of->plain ? of->words.what : of->verdict);
  draw_hover(hover + (acts ? "\nKeys and panels apply to this trace." : "\nClick: apply keys and panels to this trace (X)."));
}

}  // namespace gapscope
