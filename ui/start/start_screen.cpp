// What an empty window shows: type or browse a path, recent files, samples and what they teach, the first three keys.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/text.h"
#include "core/snapshot/opened_snapshot.h"
#include "core/view/document.h"
#include "ui/app_ui.h"
#include "ui/search/query_field.h"
#include "ui/start/folder_rows.h"
#include "ui/start/path_completion.h"
#include "ui/widgets/bars.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kWidthPx = 1240, kHeightPx = 700;  // at scale 1; smaller windows get a smaller one that scrolls
constexpr float kMarginPx = 24;
constexpr float kLeastFolder = 60;  // of a recent file's folder; it is not stated in less

struct Start {
  const FrameInput& in;
  WindowState& window;
  Requests& out;
  const Theme& theme;
  float px(float size) const { return size * window.frame.scale; }
};

bool as_second(const Start& start) { return start.window.start.as_second && is_open(start.in); }

// A second trace loads alongside the first, which is shown meanwhile.
void open(Start& start, const std::string& path) {
  start.out.add(OpenFile{path, as_second(start)});
  if (as_second(start)) start.window.start_open = false;
}

void open_sample(Start& start, std::size_t index) {
  start.out.add(OpenSample{index, as_second(start)});
  if (as_second(start)) start.window.start_open = false;
}

// The typed path decides which folder to show; it is asked for once.
void ask_for_folder(Start& start) {
  StartFields& fields = start.window.start;
  const std::string folder(split_typed(meant_path(fields.base, fields.path)).folder);
  if (fields.asked && fields.asked_folder == folder) return;
  fields.asked = true;
  fields.asked_folder = folder;
  start.out.add(ListFolder{folder});
}

// What the folder of the typed path holds; null while it is being listed.
const FolderView* listed_folder(const Start& start) {
  const FolderView* folder = start.in.folder;
  return folder && folder->asked == start.window.start.asked_folder ? folder : nullptr;
}

// What went wrong was about another path.
void drop_message(Start& start) {
  if (!start.in.message.empty() || start.in.news) start.out.add(DismissMessage{});
}

// Back to the trace behind the page; what went wrong on the page is left with it.
void leave(Start& start) {
  if (!is_open(start.in)) return;
  start.window.start_open = false;
  drop_message(start);
}

void replace_path(Start& start, std::string path) {
  if (path != start.window.start.path) drop_message(start);
  start.window.start.path = std::move(path);
  start.window.start.replaced = start.window.start.has_keys;
}

void enter(Start& start, const FolderEntry& entry, StartFields::Awaits of_folder) {
  const std::string path = entry_path(*start.in.folder, entry);
  replace_path(start, path);
  if (!entry.is_folder) return open(start, path);
  start.window.start.awaits = of_folder;
}

// As the ranks of a run do: then the folder can be opened as a whole.
bool holds_traces(const FolderView& folder) {
  return std::any_of(folder.entries.begin(), folder.entries.end(), [](const FolderEntry& entry) { return !entry.is_folder; });
}

// What is typed names a file, or all but does; or the folder that is listed.
void take_typed(Start& start, const FolderView& folder) {
  const StartFields& fields = start.window.start;
  if (const FolderEntry* entry = taken_entry(fields.path, folder)) return enter(start, *entry, StartFields::Awaits::traces);
  const std::string path = meant_path(fields.base, fields.path);
  if (path.empty()) return;
  if (path.ends_with('/') && !holds_traces(folder)) return void(start.window.key_hint = "No trace in " + printable(path));
  open(start, path);
}

// Tab and Enter wait for the listing that they are about.
void go_on_with_listing(Start& start) {
  StartFields& fields = start.window.start;
  const FolderView* folder = listed_folder(start);
  if (!folder) return;
  const StartFields::Awaits awaited = std::exchange(fields.awaits, StartFields::Awaits::nothing);
  if (awaited == StartFields::Awaits::entry) return take_typed(start, *folder);
  if (awaited == StartFields::Awaits::traces && holds_traces(*folder)) return open(start, meant_path(fields.base, fields.path));
  if (awaited != StartFields::Awaits::completion) return;
  std::string whole = completed(fields.path, *folder);
  if (whole != fields.path) replace_path(start, std::move(whole));
}

// A path that was copied as a whole replaces what is typed, and opens.
bool take_copied(Start& start) {
  if (!pressed(start.in.presses, Key::v, kCtrl)) return false;
  const char* text = ImGui::GetClipboardText();
  const std::optional<std::string> path = text ? copied_path(text) : std::nullopt;
  if (!path) return false;
  replace_path(start, *path);
  if (!path->ends_with('/')) open(start, *path);
  return true;
}

void take_keys_of_field(Start& start, const std::string& before) {
  StartFields& fields = start.window.start;
  if (fields.path != before) fields.awaits = StartFields::Awaits::nothing, drop_message(start);
  if (take_copied(start)) return;
  const auto& presses = start.in.presses;
  if (pressed(presses, Key::tab)) fields.awaits = StartFields::Awaits::completion;
  if (pressed(presses, Key::enter)) fields.awaits = StartFields::Awaits::entry;
  if (!pressed(presses, Key::escape)) return;
  fields.holds_keys = false;
  leave(start);
}

// It has the keyboard at all times, but for what is over the page.
void draw_path_field(Start& start, float width) {
  StartFields& fields = start.window.start;
  const bool part_is_shown = start.in.document && start.in.document->trace.is_part;  // and no card over all
  const bool covered = (start.in.loading && !part_is_shown) || start.window.help_open ||
                       ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  const bool holds = fields.holds_keys && !covered;
  const bool awaits = holds && !fields.has_keys;
  const bool had_keys = fields.has_keys || awaits;
  const std::string before = fields.path;
  push_face(Face::mono);
  fields.has_keys = draw_query_field(
      "##path", "path of a trace", width,
      {fields.path, fields.caret_to_end, awaits && !ImGui::IsMouseDown(0), false, '\0', awaits, &fields.replaced});
  pop_face();
  if (!fields.has_keys) fields.replaced = false;
  if (had_keys) take_keys_of_field(start, before);
  if (had_keys && !awaits && !fields.has_keys) fields.caret_to_end = true;  // Enter makes Dear ImGui give the keyboard back
}

// Two lines that are there whether or not there is anything to say, so that nothing moves; more where they are needed.
void draw_line_below(Start& start) {
  const float line = ImGui::GetTextLineHeight(), least = 2 * line + ImGui::GetStyle().ItemSpacing.y;
  const float room = ImGui::GetContentRegionAvail().x - text_width(Face::sans, "Dismiss") - ImGui::GetStyle().ItemSpacing.x;
  const std::string_view message = start.in.news ? std::string_view(start.in.news->text) : start.in.message;
  const ImVec2 needed = ImGui::CalcTextSize(message.data(), message.data() + message.size(), false, std::max(1.0f, room));
  const float height = std::max(least, needed.y);  // what went wrong is said whole
  ImGui::BeginChild("line", {0, height}, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  if (message.empty()) {
    draw_text(Face::sans, start.theme.muted,
              "Tab completes. Enter opens a file or a folder of ranks. Ctrl+V opens a copied path.", /*wrap=*/true);
  } else {
    const float dismiss = text_width(Face::sans, "Dismiss");
    const ImVec2 at = ImGui::GetCursorPos();
    ImGui::SetCursorPosX(at.x + ImGui::GetContentRegionAvail().x - dismiss);
    if (draw_link(Face::sans, start.theme.accent, "Dismiss")) start.out.add(DismissMessage{});
    ImGui::SetCursorPos(at);
    ImGui::BeginChild("message", {ImGui::GetContentRegionAvail().x - dismiss - ImGui::GetStyle().ItemSpacing.x, height}, false,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    draw_text(Face::sans, start.in.news ? start.theme.good : start.theme.notable, message, /*wrap=*/true);
    draw_hover(message);
    ImGui::EndChild();
  }
  ImGui::EndChild();
}

void draw_path_line(Start& start) {
  draw_text(Face::bold, start.theme.text, as_second(start) ? "Choose the trace to compare with" : "Open a trace");
  const ImGuiStyle& style = ImGui::GetStyle();
  const auto button_width = [&](const char* title) { return text_width(Face::sans, title) + style.FramePadding.x * 4; };
  float buttons = button_width("Open") + style.ItemSpacing.x;
  if (start.in.can_browse) buttons += button_width("Browse...") + style.ItemSpacing.x;
  draw_path_field(start, ImGui::GetContentRegionAvail().x - buttons);
  StartFields& fields = start.window.start;
  ImGui::SameLine();
  const bool folder = fields.path.ends_with('/');
  const FolderView* listed = listed_folder(start);
  ImGui::BeginDisabled(fields.path.empty() || (folder && (!listed || !holds_traces(*listed))));
  if (ImGui::Button("Open", {button_width("Open"), 0})) open(start, meant_path(fields.base, fields.path));
  ImGui::EndDisabled();
  draw_hover(folder ? "Open all traces of this folder as the ranks of one run (Enter)." : "Open the typed path (Enter).");
  if (start.in.can_browse) {
    ImGui::SameLine();
    if (ImGui::Button("Browse...", {button_width("Browse..."), 0})) start.out.add(BrowseFile{as_second(start)});
    draw_hover("Choose a file in a dialog.");
  }
  draw_line_below(start);
}

void draw_attach_button(Start& start) {
  if (!start.in.attach) return;
  if (ImGui::Button("Record a running program...", {-1, 0})) start.out.add(ShowAttachPage{});
  draw_hover("Record PyTorch programs that already run on this machine, and open their traces.");
}

// Of a name in the mono face, what goes into `width`, cut in the middle.
std::string in_width(std::string_view name, float width) {
  return elide_middle(name, static_cast<std::size_t>(std::max(1.0f, width / text_width(Face::mono, "0"))));
}

void draw_entry(Start& start, const FolderEntry& entry) {
  const float lines = entry.summary ? 2 : 1;
  const bool chosen = ImGui::Selectable("##entry", false, 0, {0, lines * ImGui::GetTextLineHeight()});
  const bool hot = ImGui::IsItemHovered();
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  ImGui::SameLine(0, 0);
  const std::string name = printable(entry.is_folder ? entry.name + "/" : entry.name);
  const std::string size = entry.bytes == 0 ? "" : format_bytes(entry.bytes);
  const float room =
      ImGui::GetContentRegionAvail().x - (size.empty() ? 0 : text_width(Face::mono, size) + ImGui::GetStyle().ItemSpacing.x);
  const std::string shown = in_width(name, room);
  draw_text(Face::mono, entry.is_folder ? start.theme.accent : start.theme.text, shown);
  if (hot && shown != name) draw_tooltip(low, high, name);
  if (!size.empty()) {
    ImGui::SameLine();
    draw_text_right(Face::mono, start.theme.muted, size);
  }
  if (entry.summary) draw_summary(*entry.summary, start.theme, start.window.frame.scale, low, high);
  if (chosen) enter(start, entry, StartFields::Awaits::nothing);
}

void draw_parent_entry(Start& start) {
  if (start.in.folder->path == "/") return;
  if (ImGui::Selectable("##up")) replace_path(start, std::string(split_typed(start.in.folder->path).folder));
  ImGui::SameLine(0, 0);
  draw_text(Face::mono, start.theme.accent, "../");
}

void draw_folder(Start& start) {
  const FolderView* folder = listed_folder(start);
  draw_text(Face::mono, start.theme.muted,
            folder ? in_width(printable(folder->path), ImGui::GetContentRegionAvail().x) : "...");
  const float below = start.in.attach ? ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y : 0;
  ImGui::BeginChild("folder", {0, -below}, true);
  if (folder && !folder->error.empty()) draw_text(Face::sans, start.theme.notable, folder->error, /*wrap=*/true);
  if (folder) {
    draw_parent_entry(start);
    auto entries = matching_entries(*folder, split_typed(start.window.start.path).start);
    const auto is_read = [](const FolderEntry* entry) { return entry->summary.has_value(); };
    if (std::count_if(entries.begin(), entries.end(), is_read) > 1) draw_order(start.window.start, start.theme);
    put_in_order(entries, start.window.start.order);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      draw_entry(start, *entries[i]);
      ImGui::PopID();
    }
    if (entries.empty())
      draw_text(Face::sans, start.theme.muted, "No matching folder or trace (.json, .json.gz, .json.xz, .json.zst).",
                /*wrap=*/true);
  }
  ImGui::EndChild();
}

void draw_recent(Start& start) {
  draw_text(Face::bold, start.theme.text, "Recent");
  if (start.in.recent.empty()) draw_text(Face::sans, start.theme.muted, "Files that you open appear here.");
  const std::vector<PathName> names = names_of_paths(start.in.recent);
  for (std::size_t i = 0; i < start.in.recent.size(); ++i) {
    const std::string& path = start.in.recent[i];
    ImGui::PushID(static_cast<int>(i));
    if (draw_link(Face::mono, start.theme.accent, in_width(printable(names[i].name), ImGui::GetContentRegionAvail().x)))
      open(start, path);
    draw_hover(printable(path));
    if (!names[i].folders.empty()) {
      ImGui::SameLine();
      const float room = ImGui::GetContentRegionAvail().x - text_width(Face::mono, "in ");
      if (room > start.px(kLeastFolder))
        draw_text(Face::mono, start.theme.muted, "in " + in_width(printable(names[i].folders), room));
    }
    ImGui::PopID();
  }
  ImGui::Dummy({0, start.px(8)});
}

void draw_samples(Start& start) {
  if (start.in.samples.empty()) return;
  draw_text(Face::bold, start.theme.text, "Samples, recorded on an H200");
  for (std::size_t i = 0; i < start.in.samples.size(); ++i) {
    const Sample& sample = start.in.samples[i];
    ImGui::PushID(static_cast<int>(i));
    if (draw_link(Face::mono, start.theme.accent, sample.name)) open_sample(start, i);
    draw_text(Face::sans, start.theme.muted, sample.story, /*wrap=*/true);
    ImGui::Dummy({0, start.px(2)});
    ImGui::PopID();
  }
}

void draw_heading(Start& start) {
  draw_text(Face::bold, start.theme.text, as_second(start) ? "Compare" : "Gapscope");
  ImGui::SameLine();
  if (as_second(start))
    draw_text(Face::sans, start.theme.muted,
              "What you choose is shown below " +
                  printable(start.in.document ? start.in.document->trace.path : start.in.snapshot->path) + ", as B.");
  else
    draw_text(Face::sans, start.theme.muted, "Why is my GPU idle? Open a PyTorch profiler trace to see.");
  if (is_open(start.in)) {
    ImGui::SameLine();
    const float back = text_width(Face::sans, "Back to the trace");
    ImGui::SetCursorPosX(ImGui::GetWindowContentRegionMax().x - back);
    if (draw_link(Face::sans, start.theme.accent, "Back to the trace")) leave(start);
    draw_hover("Closes this page (Esc).");
  }
  ImGui::Dummy({0, start.px(8)});
}

void draw_keys(Start& start) {
  struct KeyHelp {
    const char *keys, *help;
  };
  static constexpr KeyHelp kFirstKeys[] = {
      {"W A S D", "zoom and move"}, {"F", "focus the selection, then fit all"}, {"?", "every key"}};
  for (const KeyHelp& key : kFirstKeys) {
    draw_text(Face::mono, start.theme.text, key.keys);
    ImGui::SameLine();
    draw_text(Face::sans, start.theme.muted, key.help);
    ImGui::SameLine(0, start.px(24));
  }
  const std::string_view whole = "or drop a file anywhere on this window, with Shift held to compare";
  const bool fits = text_width(Face::sans, whole) <= ImGui::GetContentRegionAvail().x;
  draw_text(Face::sans, start.theme.muted, fits ? whole : "or drop a file here");
}

void draw_columns(Start& start, float height) {
  if (!ImGui::BeginTable("columns", 2, ImGuiTableFlags_NoSavedSettings)) return;
  ImGui::TableSetupColumn("open", ImGuiTableColumnFlags_WidthStretch, 2);
  ImGui::TableSetupColumn("lists", ImGuiTableColumnFlags_WidthStretch, 3);  // so that a sample's story fits one line
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::BeginChild("open", {0, height});
  draw_path_line(start);
  draw_folder(start);
  draw_attach_button(start);
  ImGui::EndChild();
  ImGui::TableNextColumn();
  ImGui::BeginChild("lists", {0, height});
  draw_recent(start);
  draw_samples(start);
  ImGui::EndChild();
  ImGui::EndTable();
}

}  // namespace

// Over a trace the page covers all of the window, and so keeps the mouse from what is behind it.
void draw_start_screen(const FrameInput& in, WindowState& window, Requests& out) {
  Start start{in, window, out, theme_of(window)};
  ask_for_folder(start);
  const float top = is_open(in) ? 0 : start.px(kTopBarHeight);  // the menus stay in reach
  const ImVec2 size{std::min(in.width_px - start.px(kMarginPx), start.px(kWidthPx)),
                    std::min(in.height_px - top - start.px(kMarginPx), start.px(kHeightPx))};
  const ImVec2 corner{std::round((in.width_px - size.x) / 2), std::round((in.height_px + top - size.y) / 2)};
  ImGui::SetNextWindowPos(is_open(in) ? ImVec2{0, 0} : corner);
  ImGui::SetNextWindowSize(is_open(in) ? ImVec2{in.width_px, in.height_px} : size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour_vec(start.theme.background, 0.6f));
  ImGui::Begin(
      "##start", nullptr,
      ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  ImGui::SetCursorScreenPos(corner);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {start.px(kMarginPx), start.px(kMarginPx)});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, colour_vec(start.theme.surface));
  ImGui::BeginChild("page", size, true,
                    ImGuiWindowFlags_AlwaysUseWindowPadding | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollbar);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  draw_heading(start);
  const float keys = ImGui::GetTextLineHeightWithSpacing() + start.px(8);
  draw_columns(start, ImGui::GetContentRegionAvail().y - keys);
  ImGui::Dummy({0, start.px(2)});
  draw_keys(start);
  ImGui::EndChild();
  ImGui::End();
  go_on_with_listing(start);
}

}  // namespace gapscope
