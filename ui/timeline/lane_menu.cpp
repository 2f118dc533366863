#include "ui/timeline/lane_menu.h"

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "ui/commands.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr std::size_t kTitleChars = 60;
constexpr float kFilterWidth = 220;  // px at scale 1

bool item(const char* title, const char* help, const char* keys = nullptr, bool on = false, bool enabled = true) {
  const bool chosen = ImGui::MenuItem(title, keys, on, enabled);
  draw_hover(help, ImGuiHoveredFlags_AllowWhenDisabled);
  return chosen;
}

bool command_item(CommandId id, bool on, bool enabled = true) {
  const Command& c = command(id);
  return item(c.title, c.help, chords_text(c).c_str(), on, enabled);
}

void heading(std::string_view text) {
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::Separator();
}

void lane_items(const Document& document, LaneFolds& folds, LaneId id) {
  const Lane& lane = document.trace.lane(id);
  const bool pinned = folds.lane_pinned[id.index()];
  if (item(pinned ? "Unpin" : "Pin to the top", "A pinned lane stays visible while the others scroll."))
    set_pinned(folds, id, !pinned);
  if (lane.depth_count > 0 &&
      item(folds.lane_collapsed[id.index()] ? "Open" : "Fold", "Show all depths of this lane, or one thin line.", "click"))
    toggle_lane(folds, id);
  if (item("Hide", "Hide this lane. The menu above the titles shows it again.")) hide_lane(folds, id);
}

void process_items(const Document& document, LaneFolds& folds, ProcessId id) {
  if (item(folds.process_collapsed[id.index()] ? "Open" : "Fold", "Show the lanes of this process, or only its name.", "click"))
    toggle_process(folds, id);
  if (item("Hide", "Hide this process. The menu above the titles shows it again.")) hide_process(folds, document.trace, id);
  const Arrangements* arranged = document.arrangements();
  if (!arranged || !arranged->graph_streams[id.index()].together) return;
  const std::string title =
      format_count(static_cast<std::int64_t>(arranged->graph_streams[id.index()].lanes.size())) + " graph streams as one lane";
  if (item(title.c_str(), "CUDA graphs run their kernels on extra streams. Show these as one lane.", nullptr,
           folds.graph_streams_together[id.index()]))
    toggle_graph_streams(folds, id);
}

}  // namespace

void LaneMenu::open(const Zone& zone) {
  place_.reset();
  const bool is_place = zone.kind == ZoneKind::slice || zone.kind == ZoneKind::run || zone.kind == ZoneKind::gap ||
                        zone.kind == ZoneKind::replayed || (zone.kind == ZoneKind::path && zone.slice);
  if (is_place) {
    place_ = ListPlace{zone.slice, zone.lane, zone.span};
    opening_ = true;
    return;
  }
  if (zone.kind != ZoneKind::lane_title && zone.kind != ZoneKind::pin && zone.kind != ZoneKind::python &&
      zone.kind != ZoneKind::process_title)
    return;
  lane_ = zone.kind == ZoneKind::process_title ? LaneId{} : zone.lane;
  process_ = zone.process;
  opening_ = true;
}

void LaneMenu::draw(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (opening_) ImGui::OpenPopup("lane menu");
  opening_ = false;
  if (!ImGui::BeginPopup("lane menu")) return;
  const Trace& trace = document.trace;
  if (place_ && place_->slice.index() < trace.slice_count()) {
    const ListPlace place = place_of(trace, place_->slice);
    heading(elide_middle(printable(shown_name(trace, place.slice)), kTitleChars));
    draw_place_items(place, document, view, window, out);
    if (item("Hide its lane", "Hide this lane. The menu above the titles shows it again.")) hide_lane(view.folds, place.lane);
  } else if (place_ && !place_->slice && place_->lane.index() < trace.lanes.size()) {
    heading("Idle for " + format_duration(place_->span.length()));
    draw_place_items(*place_, document, view, window, out);
  } else if (place_) {
    ImGui::CloseCurrentPopup();  // of another trace
  } else if (lane_.valid() && lane_.index() < trace.lanes.size()) {
    heading(printable(trace.lane(lane_).title));
    lane_items(document, view.folds, lane_);
  } else if (process_.valid() && process_.index() < trace.processes.size()) {
    heading(printable(trace.processes[process_.index()].title));
    process_items(document, view.folds, process_);
  }
  ImGui::EndPopup();
}

void draw_lanes_button(const Document& document, TraceView& view, const WindowState& window, const Box& box) {
  LaneFolds& folds = view.folds;
  const std::size_t hidden = hidden_count(folds);
  const std::string note = !folds.filter.empty() ? "filtered"
                           : hidden > 0          ? format_count(static_cast<std::int64_t>(hidden)) + " hidden"
                                                 : "";
  const std::string label = note.empty() ? "Lanes##lanes" : "Lanes: " + note + "##lanes";
  ImGui::SetCursorScreenPos({box.x0 + 6 * window.frame.scale, box.y0 + 2 * window.frame.scale});
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {6 * window.frame.scale, 1 * window.frame.scale});
  const bool pressed = ImGui::SmallButton(label.c_str());
  ImGui::PopStyleVar();
  draw_hover("Choose which lanes are shown, and how. A right click on a title has the menu of its lane.");
  if (pressed) ImGui::OpenPopup("lanes menu");
  if (!ImGui::BeginPopup("lanes menu")) return;
  std::string filter = folds.filter;
  ImGui::SetNextItemWidth(kFilterWidth * window.frame.scale);
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  if (text_field("##filter", "filter by title, such as stream", filter)) set_filter(folds, filter);
  ImGui::Separator();
  const Arrangements* arranged = document.arrangements();
  if (command_item(CommandId::toggle_python, !folds.python_folded, arranged && arranged->any_python)) toggle_python(folds);
  if (command_item(CommandId::toggle_compact, folds.compact)) toggle_compact(folds);
  if (command_item(CommandId::only_gpu, false)) toggle_all_but_gpu(folds, document.trace);
  if (item("Show hidden lanes", "Show every lane that was hidden or filtered out.", nullptr, false,
           hidden > 0 || !folds.filter.empty()))
    show_hidden(folds);
  ImGui::EndPopup();
}

}  // namespace gapscope
