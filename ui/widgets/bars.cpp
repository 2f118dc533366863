#include "ui/widgets/bars.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/snapshot/opened_snapshot.h"
#include "core/trace/crop_mark.h"
#include "core/view/document.h"
#include "core/view/findings/findings_model.h"
#include "core/view/ranks/ranks_model.h"
#include "core/view/timeline/flow_choice.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/search/search_field.h"
#include "ui/timeline/timeline_scene.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kMessageHeight = 34;
constexpr float kLeastSearch = 170, kMostSearch = 460;
constexpr float kLeastName = 60;

std::string file_name(const Trace& trace) { return std::filesystem::path(trace.path).filename().string(); }

// The GPUs that have lanes; else those that the file describes.
std::string device_summary(const Trace& trace) {
  std::vector<std::string> names;
  for (const Process& process : trace.processes)
    if (const DeviceProperties* known = process.is_gpu ? trace.device(process.device) : nullptr) names.push_back(known->name);
  if (names.empty())
    for (const DeviceProperties& device : trace.header.devices) names.push_back(device.name);
  if (names.empty()) return {};
  const std::string count = std::to_string(names.size());
  const bool alike = std::all_of(names.begin(), names.end(), [&](const std::string& name) { return name == names.front(); });
  if (names.front().empty() || !alike) return count + (names.size() == 1 ? " GPU" : " GPUs");
  return names.size() == 1 ? names.front() : count + " x " + names.front();
}

// "NVIDIA H200 - 1.21 ms" where the file names a GPU.
std::string trace_summary(const Trace& trace) {
  const std::string devices = device_summary(trace);
  const std::optional<CropMark> crop = crop_mark(trace);
  return devices + (devices.empty() ? "" : "  \xC2\xB7  ") + (crop ? crop_words(*crop) : format_duration(trace.span.length())) +
         (trace.is_part ? " so far" : "");
}

bool is_on(CommandId id, const WindowState& window) {
  return (id == CommandId::toggle_bottom && window.settings.sizes.bottom_open) ||
         (id == CommandId::toggle_findings && (is_inspector_shown(window) || is_panel_shown(window, "answer"))) ||
         (id == CommandId::pin_tab && window.tab_pinned) ||
         (id == CommandId::toggle_informational && !window.settings.findings.quiet) ||
         (id == CommandId::toggle_animation && window.settings.animate);
}

void menu_item(const Command& command, CommandScope& scope) {
  const std::string keys = chord_text(command.chords[0]);
  const bool enabled = is_enabled(command, scope);
  if (ImGui::MenuItem(command.title, keys.c_str(), is_on(command.id, scope.window), enabled)) run_command(command.id, scope);
  const std::string_view why = why_disabled(command, scope);
  draw_hover(why.empty() ? std::string(command.help) : std::string(command.help) + " (Not now: " + std::string(why) + ".)");
}

void draw_recent(const FrameInput& in, CommandScope& scope) {
  if (!ImGui::BeginMenu("Recent", !in.recent.empty())) return;
  for (std::size_t i = 0; i < in.recent.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const std::string name = printable(std::filesystem::path(in.recent[i]).filename().string());
    if (ImGui::MenuItem(name.c_str())) scope.out.add(OpenFile{in.recent[i], false});
    draw_hover(printable(in.recent[i]));
    ImGui::PopID();
  }
  ImGui::EndMenu();
}

// The recent files stand after what opens a file.
void draw_menu(Menu menu, const FrameInput& in, CommandScope& scope) {
  // Below the bar, where Dear ImGui puts it, however low the window is: a menu that is higher than that scrolls.
  const ImGuiStyle& style = ImGui::GetStyle();
  const float top = ImGui::GetCursorScreenPos().y - style.FramePadding.y + std::round(kTopBarHeight * in.scale);
  const float below = ImGui::GetIO().DisplaySize.y - top - 2 * style.DisplaySafeAreaPadding.y;
  if (parent_of(menu) == menu) ImGui::SetNextWindowSizeConstraints({0, 0}, {FLT_MAX, below});
  if (!ImGui::BeginMenu(menu_title(menu))) return;
  std::array<bool, kMenus.size()> drawn{};
  for (const Command& command : commands()) {
    const bool inside = command.menu != menu && parent_of(command.menu) == menu;
    if (inside && !std::exchange(drawn[static_cast<std::size_t>(command.menu)], true)) draw_menu(command.menu, in, scope);
    if (command.menu != menu) continue;
    if (begins_group(command.id)) ImGui::Separator();
    if (command.id == CommandId::compare_with) draw_recent(in, scope);
    menu_item(command, scope);
  }
  ImGui::EndMenu();
}

// Gives its right end; nothing is drawn where it would come behind `most`.
float draw_pill(Painter& p, const Theme& theme, const Box& bar, float x, const std::string& text, float most) {
  const float width = p.text_width(Face::sans, text) + p.px(20);
  if (x + width > most) return x;
  const Box pill{x, bar.y0 + p.px(8), x + width, bar.y1 - p.px(8)};
  p.fill_rounded(pill, colour(theme.raised), pill.height() / 2);
  p.text_in(Face::sans, {pill.x0 + p.px(10), pill.y0, pill.x1, pill.y1}, colour(theme.muted), text);
  return pill.x1;
}

// The first words of the verdict, at the right end: "Host-bound", in the colour of the worst finding once the rules have
// looked; a click opens the findings, at the first one where there are some. Gives its left end; nothing is drawn where that
// would come before `least`, with half a search field.
float draw_verdict_chip(Painter& p, const Theme& theme, const Box& bar, float least, const Document& document,
                        CommandScope& scope) {
  const Headline* headline = document.headline();
  if (!headline) return bar.x1;
  std::optional<Severity> worst;
  if (const Diagnosis* diagnosis = document.diagnosis()) {
    worst = Severity::informational;
    for (const RankedFinding& f : diagnosis->findings) worst = std::max(*worst, f.finding.severity);
  }
  const bool doubtful = !headline->trust.empty();
  // It is about all ranks, where they were read.
  const std::string of_run = printable(run_sentence(scope.window.ranks, document.trace.path));
  const std::string words = !of_run.empty() ? of_run.substr(0, of_run.find(':'))
                                            : headline->verdict.substr(0, headline->verdict.find(':')) +
                                                  (doubtful && !is_inspector_shown(scope.window) ? ", with a caveat" : "");
  const float size = p.px(10), width = p.text_width(Face::sans, words) + size + p.px(32);
  const Box chip{bar.x1 - width - p.px(10), bar.y0 + p.px(7), bar.x1 - p.px(10), bar.y1 - p.px(7)};
  if (chip.x0 < least + p.px(kLeastSearch) / 2) return bar.x1;
  ImGui::SetCursorScreenPos({chip.x0, chip.y0});
  const bool clicked = ImGui::InvisibleButton("verdict", {chip.width(), chip.height()});
  if (clicked && of_run.empty()) open_findings(document, scope.view, scope.window);
  if (clicked && !of_run.empty()) jump_to_panel(scope.view, scope.window, "ranks");
  const bool hot = ImGui::IsItemHovered();
  draw_hover((of_run.empty() ? "" : of_run + "\nThis rank: ") + (doubtful ? headline->trust + "\n" : "") +
             (headline->plain ? headline->words.what : headline->verdict));
  p.fill_rounded(chip, colour(worst ? severity_colour(*worst, theme) : theme.muted, hot ? 0.32f : 0.18f), chip.height() / 2);
  if (worst) draw_severity(p, {chip.x0 + p.px(12) + size / 2, (chip.y0 + chip.y1) / 2}, size, *worst, theme);
  p.text_in(Face::sans, {chip.x0 + size + p.px(20), chip.y0, chip.x1, chip.y1}, colour(theme.text), words);
  return chip.x0;
}

// A row across the window; the caller adds what is in it.
void begin_row(const char* id, const Box& box) {
  ImGui::SetCursorScreenPos({box.x0, box.y0});
  ImGui::BeginChild(id, {box.width(), box.height()}, false, ImGuiWindowFlags_NoScrollbar);
}

// Its name and as many folders as there is room for.
std::string path_in_width(const Painter& p, const std::string& path, float width) {
  std::string shown = path;
  for (std::size_t at = path.find('/', 1); p.text_width(Face::sans, shown) > width && at != path.npos;
       at = path.find('/', at + 1))
    shown = "\xE2\x80\xA6" + path.substr(at);
  return shown;
}

constexpr double kNewsSeconds = 8;  // that "Saved ..." stays unless it is dismissed

bool is_trace(const std::string& path) { return path.find(".json", path.rfind('/') + 1) != path.npos; }

// An error, until it is dismissed.
void message_row(const Box& row, std::string_view message, const WindowState& window, Requests& out) {
  const Theme& theme = theme_of(window);
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  p.fill(row, colour(theme.raised));
  p.fill({row.x0, row.y0, row.x0 + p.px(4), row.y1}, colour(theme.costly));
  begin_row("message", row);
  ImGui::SetCursorPos({p.px(16), p.px(8)});
  ImGui::TextUnformatted(message.data(), message.data() + message.size());
  ImGui::SetCursorPos({row.width() - p.px(86), p.px(5)});
  if (ImGui::Button("Dismiss", {p.px(78), 0})) out.add(DismissMessage{});
  ImGui::EndChild();
}

// What was done, for a while, or what can be done about the file: in place of the status bar's figures, so that
// nothing moves under the pointer when it comes and goes.
void news_row(const Box& row, std::string_view id, const Notice& news, Rgb ink, const Theme& theme, Painter& p, Requests& out) {
  p.fill(row, colour(theme.raised));
  p.fill({row.x0, row.y0, row.x0 + p.px(4), row.y1}, colour(ink));
  float buttons = p.px(16);
  for (const NoticeButton& button : news.buttons)
    buttons += text_width(Face::sans, button.title) + 2 * ImGui::GetStyle().FramePadding.x + p.px(12);
  std::string text = news.text;
  while (text_width(Face::sans, text) > row.width() - buttons - p.px(8) && utf8_length(text) > 8)
    text = elide_middle(text, utf8_length(text) - 1);
  begin_row(std::string(id).c_str(), row);
  ImGui::SetCursorPos({p.px(16), p.px(3)});
  draw_text(Face::sans, theme.text, text);
  for (const NoticeButton& button : news.buttons) {
    ImGui::SameLine(0, p.px(12));
    ImGui::PushStyleColor(ImGuiCol_Button, colour(theme.accent, 0.25f));
    if (ImGui::SmallButton(button.title)) out.add(button.request);
    ImGui::PopStyleColor();
    draw_hover(button.help);
  }
  ImGui::EndChild();
}

// "Saved ..." goes by itself; "Saving ..." does when it is done.
void saved_row(const Box& row, const FrameInput& in, WindowState& window, const Theme& theme, Painter& p, Requests& out) {
  const auto& [text, saved] = *in.news;
  if (window.news_seen != text) window.news_s = 0;
  window.news_seen = text;
  window.news_s += static_cast<double>(ImGui::GetIO().DeltaTime);
  if (!saved.empty() && window.news_s > kNewsSeconds) out.add(DismissMessage{});
  Notice news{text, {}};
  if (is_trace(saved))
    news.buttons.push_back({"Open", "Open the saved file.", OpenFile{saved}});
  else if (!saved.empty() && in.has_desktop)
    news.buttons.push_back({"Open", "Open the saved file in the desktop's program for it.", OpenOnDesktop{saved}});
  news.buttons.push_back({"Dismiss", "Show the figures of the trace again.", DismissMessage{}});
  news_row(row, "message", news, theme.good, theme, p, out);
}

// A bar that fills, words and a button, over the surface of the status bar.
void loading_row(const Box& box, const LoadingView& loading, const Theme& theme, Painter& p, Requests& out) {
  const float share = loading.fraction < 0 ? 0.0f : static_cast<float>(loading.fraction);
  p.fill({box.x0, box.y0, box.x0 + box.width() * share, box.y0 + p.px(3)}, colour(theme.accent));
  const std::string text = "Loading, only the beginning is shown:  " + loading_text(loading);
  p.text_in(Face::bold, {box.x0 + p.px(10), box.y0, box.x1 - p.px(80), box.y1}, colour(theme.accent), text);
  begin_row("loading", {box.x1 - p.px(80), box.y0, box.x1, box.y1});
  ImGui::SetCursorPos({p.px(8), p.px(3)});
  if (ImGui::SmallButton("Cancel")) out.add(CancelLoad{});
  draw_hover("Stop loading, and show the previous trace again.");
  ImGui::EndChild();
}

}  // namespace

void draw_top_bar(const Box& box, const FrameInput& in, CommandScope& scope) {
  const Theme& theme = theme_of(scope.window);
  Painter p(*ImGui::GetWindowDrawList(), scope.window.frame.scale);
  for (const Menu menu : kMenus)
    if (parent_of(menu) == menu) draw_menu(menu, in, scope);
  if (in.snapshot) {
    const float left = ImGui::GetCursorScreenPos().x + p.px(18);
    p.text_in(Face::bold, {left, box.y0, box.x1 - p.px(10), box.y1}, colour(theme.text),
              printable(std::filesystem::path(in.snapshot->path).filename().string()));
  }
  if (!in.document) return;
  const Trace& trace = in.document->trace;
  const float x = ImGui::GetCursorScreenPos().x + p.px(12);
  const std::optional<LinkedAxis>& linked = scope.view.linked;  // there while two are compared
  const float right = draw_verdict_chip(p, theme, box, x, *in.document, scope) - p.px(14);
  const float room = right - p.px(kLeastSearch + 14) - x - p.px(6);  // for the name; none in a window that is very narrow
  float left = x + p.px(6);
  if (room >= p.px(kLeastName)) {
    std::string name = (linked ? linked->is_a ? "A:  " : "B:  " : "") + printable(file_name(trace));
    while (p.text_width(Face::bold, name) > room) name = elide_middle(name, utf8_length(name) - 1);
    p.line_y(x - p.px(6), box.y0 + p.px(12), box.y1 - p.px(12), colour(theme.line));
    p.text_in(Face::bold, {left, box.y0, box.x1, box.y1}, colour(theme.text), name);
    const float pill = x + p.px(18) + p.text_width(Face::bold, name);
    left = draw_pill(p, theme, box, pill, printable(trace_summary(trace)), right - p.px(kLeastSearch)) + p.px(14);
  }
  const float x1 = std::min(right, std::max(left + p.px(kMostSearch), std::floor((box.x0 + box.x1 + p.px(kMostSearch)) / 2)));
  const float x0 = std::max(left, x1 - p.px(kMostSearch));
  if (x1 - x0 >= p.px(kLeastSearch) / 2) return draw_search_field({x0, box.y0 + p.px(7), x1, box.y1 - p.px(7)}, in, scope);
  SearchState& search = scope.view.search;  // without room there is no field, and it takes no keys
  search.wants_keys = search.has_keys = false;
  search.slash_frames = 0;
}

void draw_status_bar(const Box& box, const FrameInput& in, const TraceView& view, WindowState& window, Requests& out) {
  const Theme& theme = theme_of(window);
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  p.fill(box, colour(theme.surface));
  p.line_x(box.y0, box.x0, box.x1, colour(theme.line));
  if (in.snapshot && in.news && !window.start_open) return saved_row(box, in, window, theme, p, out);
  if (in.snapshot)
    p.text_in(Face::sans, {box.x0 + p.px(10), box.y0, box.x1 - p.px(10), box.y1}, colour(theme.muted),
              printable(in.snapshot->path) + "   \xC2\xB7   PyTorch's memory snapshot");
  if (!in.document) return;
  const Trace& trace = in.document->trace;
  if (trace.is_part && in.loading) return loading_row(box, *in.loading, theme, p, out);
  if (in.news && !window.start_open) return saved_row(box, in, window, theme, p, out);
  if (in.notice) return news_row(box, "notice", *in.notice, theme.accent, theme, p, out);
  const std::string dot = "   \xC2\xB7   ";
  const std::string figures = flow_figures(view.flows);
  const std::optional<CropMark> crop = crop_mark(trace);
  const std::string rest = dot + format_count(static_cast<std::int64_t>(trace.slice_count())) + " slices" + dot + "visible " +
                           format_duration(std::min(view.time.span.length(), trace.span.length())) +
                           (crop ? dot + crop_words(*crop) : " of " + format_duration(trace.span.length())) +
                           (figures.empty() ? "" : dot + figures);
  const float room = box.width() - p.px(20);
  const std::string path = path_in_width(p, printable(trace.path), room - p.text_width(Face::sans, rest));
  p.text_in(Face::sans, {box.x0 + p.px(10), box.y0, box.x1 - p.px(10), box.y1}, colour(theme.muted), path + rest);
}

float draw_message(const Box& box, const FrameInput& in, const WindowState& window, Requests& out) {
  if (in.message.empty()) return 0;
  const float height = std::round(kMessageHeight * window.frame.scale);
  message_row({box.x0, box.y0, box.x1, box.y0 + height}, in.message, window, out);
  return height;
}

float draw_loading_second(const Box& box, const LoadingView& loading, const WindowState& window, Requests& out) {
  const Theme& theme = theme_of(window);
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  const float height = p.px(kStatusHeight);
  const Box row{box.x0, box.y1 - height, box.x1, box.y1};
  p.fill(row, colour(theme.raised));
  const float share = loading.fraction < 0 ? 0.0f : static_cast<float>(loading.fraction);
  p.fill({row.x0, row.y0, row.x0 + row.width() * share, row.y0 + p.px(3)}, colour(theme.accent));
  const std::string name = printable(std::filesystem::path(loading.path).filename().string());
  p.text_in(Face::sans, {row.x0 + p.px(10), row.y0, row.x1 - p.px(80), row.y1}, colour(theme.accent),
            "B: " + name + "   " + loading_text(loading));
  begin_row("loading second", {row.x1 - p.px(80), row.y0, row.x1, row.y1});
  ImGui::SetCursorPos({p.px(8), p.px(3)});
  if (ImGui::SmallButton("Cancel")) out.add(CloseSecond{});
  draw_hover("Stop loading the second trace.");
  ImGui::EndChild();
  return height;
}

float draw_splitter(const char* id, const Box& box, const WindowState& window) {
  const bool lying = box.width() > box.height();
  ImGui::SetCursorScreenPos({box.x0, box.y0});
  ImGui::InvisibleButton(id, {box.width(), box.height()});
  const bool hot = ImGui::IsItemHovered() || ImGui::IsItemActive();
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  const Theme& theme = theme_of(window);
  p.fill(box, colour(theme.surface));
  // In the middle of what can be hit.
  const float x = std::floor((box.x0 + box.x1) / 2), y = std::floor((box.y0 + box.y1) / 2);
  const Box edge = lying ? Box{box.x0, y, box.x1, y + p.hairline()} : Box{x, box.y0, x + p.hairline(), box.y1};
  p.fill(hot ? box : edge, colour(hot ? theme.accent : theme.line, hot ? 0.6f : 1.0f));
  if (hot) ImGui::SetMouseCursor(lying ? ImGuiMouseCursor_ResizeNS : ImGuiMouseCursor_ResizeEW);
  if (!ImGui::IsItemActive()) return 0;
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  return (lying ? moved.y : moved.x) / window.frame.scale;
}

}  // namespace gapscope
