#include "ui/command_box.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/search/fuzzy.h"
#include "core/view/timeline/go_to_time.h"
#include "core/view/timeline/ruler.h"
#include "core/view/timeline/time_view.h"
#include "ui/search/query_field.h"
#include "ui/timeline/painter.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kWidth = 620, kTop = 44, kRow = 26, kMostRows = 12;  // px at scale 1, and rows

struct Line {
  std::string title, note, keys;
  bool enabled = true;
  std::string why_not = {};  // where it is not enabled
  std::size_t position = 0;  // in the table it comes from
  int score = 0;
};

void add(std::vector<Line>& lines, Line line, const std::string& typed) {
  const std::optional<int> score = fuzzy_score(line.title, typed);
  if (!score) return;
  line.score = *score;
  lines.push_back(std::move(line));
}

std::vector<Line> command_lines(const CommandScope& scope) {
  std::vector<Line> lines;
  const auto table = commands();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].id == CommandId::palette) continue;
    add(lines,
        {table[i].title, table[i].help, chords_text(table[i]), is_enabled(table[i], scope),
         std::string(why_disabled(table[i], scope)), i},
        scope.window.box.text);
  }
  return lines;
}

std::vector<Line> lane_lines(const CommandScope& scope) {
  std::vector<Line> lines;
  const Trace& trace = scope.document->trace;
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    const Lane& lane = trace.lanes[i];
    add(lines, {printable(lane.title), printable(trace.processes[lane.process.index()].title), "", true, "", i},
        scope.window.box.text);
  }
  return lines;
}

// The best fit first; of what fits as well the shorter, and before anything is typed the table's order.
std::vector<Line> lines_of(const CommandScope& scope) {
  const BoxKind kind = scope.window.box.kind;
  std::vector<Line> lines = kind == BoxKind::commands ? command_lines(scope)
                            : kind == BoxKind::lanes  ? lane_lines(scope)
                                                      : std::vector<Line>{};
  const bool typed = !scope.window.box.text.empty();
  std::stable_sort(lines.begin(), lines.end(), [typed](const Line& a, const Line& b) {
    return a.score != b.score ? a.score > b.score : typed && a.title.size() < b.title.size();
  });
  return lines;
}

const char* hint_of(BoxKind kind) {
  if (kind == BoxKind::commands) return "run a command";
  return kind == BoxKind::lanes ? "go to a lane" : "go to a time: 12.5ms, 1.2 s, 830us, or a count of nanoseconds";
}

void go_to_moment(CommandScope& scope, Ns time) {
  TraceView& view = scope.view;
  const Span trace = scope.document->trace.span;
  const Ns half = view.time.span.length() / 2;
  go_to(view, scope.window, within_limits({{time - half, time - half + view.time.span.length()}, 0, 0}, trace));
}

// What Enter does. False: nothing, and the box stays.
bool take(CommandScope& scope, const std::vector<Line>& lines) {
  const BoxState box = scope.window.box;
  if (box.kind == BoxKind::time) {
    const Result<Ns> time = parse_time_point(box.text, scope.document->trace.span);
    if (time) go_to_moment(scope, *time);
    if (time) scope.view.notes.marks = {{*time, *time}};
    return time.ok();
  }
  if (box.chosen >= lines.size() || !lines[box.chosen].enabled) return false;
  const std::size_t position = lines[box.chosen].position;
  scope.window.box = {};
  if (box.kind == BoxKind::lanes)
    scope.view.signals.reveal_lane = LaneId(position);
  else
    run_command(commands()[position].id, scope);
  return true;
}

// True when clicked.
bool draw_line(const Line& line, bool chosen, float width, const WindowState& window) {
  const Theme& theme = theme_of(window);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  const Box box{at.x, at.y, at.x + width, at.y + p.px(kRow)};
  const bool clicked = ImGui::InvisibleButton("line", {width, box.height()});
  if (ImGui::IsItemHovered() || chosen) p.fill_rounded(box, colour(theme.accent, chosen ? 0.28f : 0.12f), p.px(3));
  draw_hover(line.enabled ? line.note : line.note + " (Not now" + (line.why_not.empty() ? ".)" : ": " + line.why_not + ".)"));
  const float keys = p.text_width(Face::mono, line.keys);
  const float right = box.x1 - p.px(8) - keys;
  const float title = std::min(p.text_width(Face::sans, line.title), right - box.x0 - p.px(16));
  p.text_in(Face::sans, {box.x0 + p.px(8), box.y0, right - p.px(8), box.y1},
            colour(line.enabled ? theme.text : theme.muted, line.enabled ? 1 : 0.6f), line.title);
  p.text_in(Face::sans, {box.x0 + p.px(24) + title, box.y0, right - p.px(12), box.y1},
            colour(theme.muted, line.enabled ? 1 : 0.6f), line.note);
  p.text_in(Face::mono, {right, box.y0, box.x1, box.y1}, colour(line.enabled ? theme.accent : theme.muted), line.keys);
  return clicked;
}

// The position that was clicked.
std::optional<std::size_t> draw_lines(const std::vector<Line>& lines, const WindowState& window, bool follow) {
  std::optional<std::size_t> clicked;
  const float row = kRow * window.frame.scale;
  const float rows = std::min(kMostRows, static_cast<float>(lines.size()));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::BeginChild("lines", {0, rows * row});
  const float width = ImGui::GetContentRegionAvail().x;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (draw_line(lines[i], i == window.box.chosen, width, window)) clicked = i;
    if (follow && i == window.box.chosen) ImGui::SetScrollHereY(0.5f);
    ImGui::PopID();
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
  return clicked;
}

void draw_sentence(const CommandScope& scope, const std::vector<Line>& lines) {
  const Theme& theme = theme_of(scope.window);
  const std::string& text = scope.window.box.text;
  if (scope.window.box.kind != BoxKind::time) {
    if (lines.empty())
      draw_text(Face::sans, theme.muted, scope.window.box.kind == BoxKind::lanes ? "No matching lane" : "No matching command");
    return;
  }
  const Span trace = scope.document->trace.span;
  if (text.empty())
    return draw_text(Face::sans, theme.muted,
                     "The trace is " + format_duration(trace.length()) + " long and begins at " + std::to_string(trace.begin) +
                         " ns of its clock.",
                     true);
  const Result<Ns> time = parse_time_point(text, trace);
  if (time)
    draw_text(Face::sans, theme.muted, "Enter brings " + exact_time_text(*time - trace.begin) + " to the middle.", true);
  else
    draw_text(Face::sans, theme.notable, printable(time.error().message), true);
}

// Moves the choice by the arrow keys; true when it moved.
bool move_choice(std::span<const KeyPress> presses, BoxState& box, std::size_t count) {
  const std::size_t before = box.chosen;
  for (const KeyPress& press : presses) {
    if (count == 0 || press.mods != kNoMods) continue;
    if (press.key == Key::down) box.chosen = (box.chosen + 1) % count;
    if (press.key == Key::up) box.chosen = (box.chosen + count - 1) % count;
  }
  if (box.chosen >= count) box.chosen = 0;
  return box.chosen != before;
}

}  // namespace

void draw_command_box(const FrameInput& in, CommandScope& scope) {
  WindowState& window = scope.window;
  BoxState& box = window.box;
  if (box.kind != BoxKind::none && box.kind != BoxKind::commands && !scope.document) box = {};
  if (box.kind == BoxKind::none) return;
  const bool fresh = std::exchange(box.fresh, false);
  if (!fresh && pressed(in.presses, Key::escape)) {
    box = {};
    return;
  }
  const float width = std::min(kWidth * window.frame.scale, in.width_px - 16 * window.frame.scale);
  ImGui::SetNextWindowPos({std::round((in.width_px - width) / 2), kTop * window.frame.scale});
  ImGui::SetNextWindowSize({width, 0});
  if (fresh) ImGui::SetNextWindowFocus();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {10 * window.frame.scale, 10 * window.frame.scale});
  ImGui::Begin("##command box", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_NoNavFocus);
  const bool awaits = !ImGui::GetIO().WantTextInput;
  bool caret_to_end = awaits && !box.text.empty();
  const std::string before = box.text;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {8 * window.frame.scale, 6 * window.frame.scale});
  const bool had_keys =
      draw_query_field("##typed", hint_of(box.kind), width - 20 * window.frame.scale,
                       {box.text, caret_to_end, false, false, box.kind == BoxKind::time ? 'g' : '\0', awaits});
  if (!had_keys && !ImGui::IsMouseDown(0)) give_keys_to_last_item();
  ImGui::PopStyleVar();
  if (box.kind == BoxKind::time && box.text == "g") box.text.clear();  // the key that opened the box
  if (box.text != before) box.chosen = 0;
  const std::vector<Line> lines = lines_of(scope);
  const bool moved = !fresh && move_choice(in.presses, box, lines.size());
  draw_sentence(scope, lines);
  const std::optional<std::size_t> clicked = draw_lines(lines, window, moved);
  if (clicked) box.chosen = *clicked;
  const bool outside = !fresh && ImGui::IsMouseClicked(0) &&
                       !ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  ImGui::End();
  ImGui::PopStyleVar();
  const bool taken = (clicked || (!fresh && pressed(in.presses, Key::enter))) && take(scope, lines);
  // What was run may have opened the box anew.
  if ((taken && !box.fresh) || outside) box = {};
}

}  // namespace gapscope
