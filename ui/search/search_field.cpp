#include "ui/search/search_field.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/view/document.h"
#include "ui/panels.h"
#include "ui/search/query_field.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostLanes = 8;  // listed; more are counted
constexpr float kCountRoom = 130;
constexpr std::uint8_t kReturnFrames = 3;  // until the field has the keyboard again
constexpr const char* kHelp =
    "Find slices. Words match anywhere in a name; /a.*b/ is a regular expression; dur>1ms, lane:\"stream 7\" and cat:kernel "
    "narrow it down.\nEnter and Shift+Enter go to the next and the previous hit, to Python frames after all others; Esc leaves "
    "the "
    "field, Esc again clears it.  ( / )";

void draw_lanes(const Document& document, TraceView& view, const SearchAnswer& answer, const Theme& theme) {
  const Trace& trace = document.trace;
  if (answer.lanes.empty()) return;
  ImGui::Spacing();
  draw_text(Face::bold, theme.text, answer.lanes.size() == 1 ? "Lane" : "Lanes");
  for (std::size_t i = 0; i < std::min(kMostLanes, answer.lanes.size()); ++i) {
    const Lane& lane = trace.lane(answer.lanes[i]);
    ImGui::PushID(static_cast<int>(i));
    if (draw_link(Face::sans, theme.accent, printable(lane.title))) view.signals.reveal_lane = answer.lanes[i];
    ImGui::SameLine();
    draw_text(Face::sans, theme.muted, printable(trace.processes[lane.process.index()].title));
    ImGui::PopID();
  }
  if (answer.lanes.size() > kMostLanes)
    draw_text(Face::sans, theme.muted, "and " + std::to_string(answer.lanes.size() - kMostLanes) + " more");
}

// False once the pointer has nothing to do with it.
bool draw_found(const Box& box, const Document& document, TraceView& view, WindowState& window) {
  const Theme& theme = theme_of(window);
  ImGui::SetNextWindowPos({box.x0, box.y1 + 4 * window.frame.scale});
  ImGui::SetNextWindowSize({box.width(), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {10 * window.frame.scale, 8 * window.frame.scale});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, window.frame.scale);
  ImGui::Begin("##found", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_AlwaysAutoResize);
  const SearchAnswer* answer = answer_to<SearchQuestion>(document).get();
  if (draw_trouble<SearchQuestion>(document, window)) {
    // nothing was found out
  } else if (!answer || answer->question != view.search.typed) {
    draw_text(Face::sans, theme.muted, "Searching");
  } else {
    const bool trouble = !answer->error.empty();
    draw_text(Face::sans, trouble ? theme.notable : theme.text, printable(search_summary(document.trace, *answer)),
              /*wrap=*/true);
    draw_lanes(document, view, *answer, theme);
    if (!answer->hits.empty() && draw_link(Face::sans, theme.accent, "List them all")) {
      open_list(view, window, list_of_slices(document.trace, answer->question.text, answer->hits));
    }
    if (!answer->hits.empty())
      draw_text(Face::sans, theme.muted, "Enter: next   Shift+Enter: previous   Esc: back to the timeline", /*wrap=*/true);
  }
  const bool hovered = ImGui::IsWindowHovered();
  ImGui::End();
  ImGui::PopStyleVar(2);
  return hovered;
}

// The hit that Enter led to is selected.
bool is_walking(const FrameInput& in, const TraceView& view) {
  const SearchAnswer* answer = answer_to<SearchQuestion>(*in.document).get();
  return answer && answer->question == view.search.typed && hit_position(in.document->trace, *answer, view.selection) > 0;
}

void walk(const FrameInput& in, CommandScope& scope) {
  SearchState& search = scope.view.search;
  const bool next = pressed(in.presses, Key::enter) || pressed(in.presses, Key::f3);
  const bool previous = pressed(in.presses, Key::enter, kShift) || pressed(in.presses, Key::f3, kShift);
  if (!next && !previous) return;
  run_command(next ? CommandId::next_hit : CommandId::previous_hit, scope);
  search.wants_keys = search.caret_to_end = true;  // Enter makes Dear ImGui give the keyboard back
  search.slash_frames = kReturnFrames;
}

// How many and where, at the right end of the field.
void draw_count(const Box& box, const Document& document, const TraceView& view, const WindowState& window, Painter& p) {
  const Theme& theme = theme_of(window);
  const std::string text = search_count_text(document, view, window);
  const float width = p.text_width(Face::sans, text);
  p.text_in(Face::sans, {box.x1 - width - p.px(8), box.y0, box.x1, box.y1}, colour(theme.muted), text);
}

}  // namespace

bool ask_search(const Document& document, const SearchQuestion& typed, Requests& out) {
  Asked<SearchQuestion>& at = asked<SearchQuestion>(document);
  if (at.question.value_or(SearchQuestion{}) == typed) return false;
  if (typed.text.empty())
    at = {};
  else
    ask(document, typed, out);
  return true;
}

std::string search_count_text(const Document& document, const TraceView& view, const WindowState& window) {
  const SearchAnswer* answer = answer_to<SearchQuestion>(document).get();
  if (view.search.typed.text.empty() || !answer) return {};
  if (!answer->error.empty()) return "?";
  const CompareState& two = window.compare;
  const bool both = two.open && two.hits_of_other;
  if (answer->hits.empty() && !both) return "no hit";
  const std::size_t at = hit_position(document.trace, *answer, view.selection);
  const std::string count = format_count(static_cast<std::int64_t>(answer->hits.size()));
  const std::string here = at > 0 ? format_count(static_cast<std::int64_t>(at)) + " of " + count : count;
  if (!both) return here;
  const std::string there = format_count(static_cast<std::int64_t>(*two.hits_of_other));
  return !view.linked || view.linked->is_a ? "A " + here + ", B " + there : "A " + there + ", B " + here;
}

void draw_search_field(const Box& box, const FrameInput& in, CommandScope& scope) {
  TraceView& view = scope.view;
  WindowState& window = scope.window;
  SearchState& search = view.search;
  const Theme& theme = theme_of(window);
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  const bool typing = search.has_keys || search.slash_frames > 0;
  const bool lists = typing && pressed(in.presses, Key::l, kShift) && is_walking(in, view);
  const bool leave = typing && (pressed(in.presses, Key::escape) || lists || !in.document);
  if (lists) run_command(CommandId::list_found, scope);
  const bool take = std::exchange(search.wants_keys, false) && !leave;
  const float toggle = p.px(30), count = box.width() > p.px(3 * kCountRoom) ? p.px(kCountRoom) : 0;
  const std::string before = search.typed.text;
  p.fill_rounded(box, colour(theme.raised), p.px(4));
  ImGui::PushStyleColor(ImGuiCol_FrameBg, colour_vec(theme.raised));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {p.px(10), (box.height() - ImGui::GetFontSize()) / 2});
  ImGui::SetCursorScreenPos({box.x0, box.y0});
  const char* hint = search.typed.regex ? "/   find by a regular expression" : "/   find slices";
  if (typing && !leave) walk(in, scope);
  const bool refocus = search.wants_keys;
  const bool awaits = !search.has_keys && typing;
  search.has_keys = draw_query_field("##search", hint, box.width() - toggle - count,
                                     {search.typed.text, search.caret_to_end, take, leave, '/', awaits});
  if (leave) search.slash_frames = 0;
  if (search.slash_frames > 0) --search.slash_frames;
  if (awaits && search.has_keys && search.typed.text == "/") search.typed.text = before;
  if (!search.has_keys && !ImGui::IsMouseDown(0)) draw_hover(kHelp);
  if (search.has_keys) search.open = true;
  ImGui::SetCursorScreenPos({box.x1 - toggle, box.y0});
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, (box.height() - ImGui::GetFontSize()) / 2});
  ImGui::PushStyleColor(ImGuiCol_Button, search.typed.regex ? colour_vec(theme.accent, 0.35f) : colour_vec(theme.raised));
  if (ImGui::Button(".*", {toggle, box.height()})) search.typed.regex = !search.typed.regex;
  draw_hover("Read the whole text as one regular expression.");
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar(2);
  search.wants_keys = refocus;
  draw_count({box.x0, box.y0, box.x1 - toggle, box.y1}, *in.document, view, window, p);
  if (search.has_keys || refocus || take) p.frame(box, colour(theme.accent), p.hairline());
  if (ask_search(*in.document, search.typed, scope.out)) view.cycle = {};
  if (!search.open || search.typed.text.empty()) return;
  const bool hovered = draw_found(box, *in.document, view, window);
  search.open = search.has_keys || refocus || take || (hovered && !leave);
}

}  // namespace gapscope
