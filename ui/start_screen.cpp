// What an empty window shows: type or browse a path, recent files, samples and what they teach, the first three keys.
#include "core/base/text.h"
#include "ui/app_ui.h"
#include "ui/path_completion.h"
#include "ui/path_field.h"
#include "ui/text.h"

namespace gapscope {
namespace {

constexpr float kWidthPx = 1240, kHeightPx = 700;  // at scale 1; smaller windows get a smaller one that scrolls
constexpr float kMarginPx = 24;

struct Start {
  const FrameInput& in;
  ViewState& view;
  Requests& out;
  const Theme& theme;
  float px(float size) const { return size * view.scale; }
};

bool beside(const Start& start) { return start.view.start.beside && start.in.document; }

// A second trace loads beside the first, which is shown meanwhile.
void open(Start& start, const std::string& path) {
  start.out.add(OpenFile{path, beside(start)});
  if (beside(start)) start.view.start_open = false;
}

void open_sample(Start& start, std::size_t index) {
  start.out.add(OpenSample{index, beside(start)});
  if (beside(start)) start.view.start_open = false;
}

// The typed path tells which folder to show; it is asked for once.
void ask_for_folder(Start& start) {
  StartFields& fields = start.view.start;
  const std::string folder(split_typed(fields.path).folder);
  if (fields.asked && fields.asked_folder == folder) return;
  fields.asked = true;
  fields.asked_folder = folder;
  start.out.add(ListFolder{folder});
}

void enter(Start& start, const FolderEntry& entry) {
  const std::string path = entry_path(*start.in.folder, entry);
  start.view.start.path = path;
  if (!entry.is_folder) open(start, path);
}

void draw_path_line(Start& start) {
  draw_text(Face::bold, start.theme.text, beside(start) ? "Choose the trace to compare with" : "Open a trace");
  std::string& path = start.view.start.path;
  const float button = text_width(Face::sans, "Open") + ImGui::GetStyle().FramePadding.x * 4;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button - ImGui::GetStyle().ItemSpacing.x);
  push_face(Face::mono);
  const bool entered = path_field("##path", "path of a trace: Tab completes, Enter opens", path, start.in.folder);
  pop_face();
  ImGui::SameLine();
  ImGui::BeginDisabled(path.empty());
  const bool pressed = ImGui::Button("Open", {button, 0});
  ImGui::EndDisabled();
  draw_hover("Opens the typed path (Enter).");
  if ((entered || pressed) && !path.empty() && !path.ends_with('/')) open(start, path);
}

void draw_entry(Start& start, const FolderEntry& entry) {
  const bool chosen = ImGui::Selectable("##entry");
  ImGui::SameLine(0, 0);
  draw_text(Face::mono, entry.is_folder ? start.theme.accent : start.theme.text,
            entry.is_folder ? entry.name + "/" : entry.name);
  if (!entry.is_folder) {
    ImGui::SameLine();
    draw_text_right(Face::mono, start.theme.muted, format_bytes(entry.bytes));
  }
  if (chosen) enter(start, entry);
}

void draw_parent_entry(Start& start) {
  if (start.in.folder->path == "/") return;
  if (ImGui::Selectable("##up")) {
    const TypedPath parts = split_typed(start.in.folder->path);
    start.view.start.path = std::string(parts.folder);
  }
  ImGui::SameLine(0, 0);
  draw_text(Face::mono, start.theme.accent, "../");
}

void draw_folder(Start& start) {
  const FolderView* folder = start.in.folder;
  draw_text(Face::mono, start.theme.muted, folder ? elide_middle(folder->path, 60) : "...");
  ImGui::BeginChild("folder", {0, 0}, true);
  if (folder && !folder->error.empty()) draw_text(Face::sans, start.theme.notable, folder->error, /*wrap=*/true);
  if (folder) {
    draw_parent_entry(start);
    const auto entries = matching_entries(*folder, split_typed(start.view.start.path).start);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      draw_entry(start, *entries[i]);
      ImGui::PopID();
    }
    if (entries.empty())
      draw_text(Face::sans, start.theme.muted,
                "No folder and no .json, .json.gz, .json.xz or .json.zst here goes on from that.", /*wrap=*/true);
  }
  ImGui::EndChild();
}

void draw_recent(Start& start) {
  draw_text(Face::bold, start.theme.text, "Recent");
  if (start.in.recent.empty()) draw_text(Face::sans, start.theme.muted, "Files that you open appear here.");
  for (std::size_t i = 0; i < start.in.recent.size(); ++i) {
    const std::string& path = start.in.recent[i];
    ImGui::PushID(static_cast<int>(i));
    if (draw_link(Face::mono, start.theme.accent, split_typed(path).start)) open(start, path);
    draw_hover(path);
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
  draw_text(Face::bold, start.theme.text, beside(start) ? "Compare" : "Gapscope");
  ImGui::SameLine();
  if (beside(start))
    draw_text(Face::sans, start.theme.muted, "What you choose is shown below " + printable(start.in.document->trace.path) + ", as B.");
  else
    draw_text(Face::sans, start.theme.muted, "Why is my GPU idle? Open a PyTorch profiler trace to see.");
  if (start.in.document) {
    ImGui::SameLine();
    const float back = text_width(Face::sans, "Back to the trace");
    ImGui::SetCursorPosX(ImGui::GetWindowContentRegionMax().x - back);
    if (draw_link(Face::sans, start.theme.accent, "Back to the trace")) start.view.start_open = false;
    draw_hover("Closes this page (Esc).");
  }
  ImGui::Dummy({0, start.px(8)});
}

// With a trace open the message stands above the timeline.
void draw_start_message(Start& start) {
  if (start.in.message.empty() || start.in.document) return;
  draw_text(Face::sans, start.theme.notable, start.in.message, /*wrap=*/true);
  if (draw_link(Face::sans, start.theme.accent, "Dismiss")) start.out.add(DismissMessage{});
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
  draw_text(Face::sans, start.theme.muted, "or drop a file anywhere on this window, with Shift held to compare");
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
  ImGui::EndChild();
  ImGui::TableNextColumn();
  ImGui::BeginChild("lists", {0, height});
  draw_recent(start);
  draw_samples(start);
  ImGui::EndChild();
  ImGui::EndTable();
}

}  // namespace

void draw_start_screen(const FrameInput& in, ViewState& view, Requests& out) {
  Start start{in, view, out, theme_of(view.theme)};
  ask_for_folder(start);
  const ImVec2 size{std::min(in.width_px - start.px(kMarginPx), start.px(kWidthPx)),
                    std::min(in.height_px - start.px(kMarginPx), start.px(kHeightPx))};
  ImGui::SetNextWindowPos({in.width_px / 2, in.height_px / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {start.px(kMarginPx), start.px(kMarginPx)});
  ImGui::Begin("##start", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleVar();
  draw_heading(start);
  draw_start_message(start);
  const float keys = ImGui::GetTextLineHeightWithSpacing() + start.px(8);
  draw_columns(start, ImGui::GetContentRegionAvail().y - keys);
  ImGui::Dummy({0, start.px(2)});
  draw_keys(start);
  ImGui::End();
}

}  // namespace gapscope
