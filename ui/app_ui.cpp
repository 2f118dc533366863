#include "ui/app_ui.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <imgui_internal.h>

#include "core/view/document.h"
#include "core/view/selection/area_model.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/time_view.h"
#include "ui/command_box.h"
#include "ui/compare/compare_view.h"
#include "ui/findings/findings_panel.h"
#include "ui/key_hint.h"
#include "ui/menu_keys.h"
#include "ui/panel_tabs.h"
#include "ui/panels.h"
#include "ui/snapshot/snapshot_page.h"
#include "ui/sql/sql_editor.h"
#include "ui/start/tour.h"
#include "ui/timeline/timeline_panel.h"
#include "ui/whatif/whatif_panel.h"
#include "ui/widgets/bars.h"
#include "ui/widgets/grid_keys.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kLeastLanes = 120;        // px at scale 1 that stay for the lanes, however tall the panels below are pulled
constexpr float kLeastLanesShare = 0.5f;  // of the height, with overview and ruler
constexpr float kLeastBottom = 80;
constexpr float kLeastForAccount = 640;
constexpr float kTabs = 42;  // px at scale 1 of the panels below while they have nothing to show: their tabs alone
// Of the height, until the splitter is dragged; of two timelines the second needs the room.
constexpr float kBottomShare = 0.4f, kBottomShareOfTwo = 0.28f;
constexpr float kSplitter = 8;
constexpr float kMenuIndent = 4;
constexpr float kLeastFindings = 200;
constexpr float kMostFindingsShare = 0.45f;  // of the window's width

constexpr ImGuiWindowFlags kRootFlags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                        ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                        ImGuiWindowFlags_MenuBar | ImGuiWindowFlags_NoScrollWithMouse |
                                        ImGuiWindowFlags_NoNavInputs;

// Another person's file is elsewhere: where nothing opens there, the open one of that name is meant.
bool is_meant(const ViewLink& link, const FrameInput& in) {
  const auto name_of = [](const std::string& path) { return std::filesystem::path(path).filename(); };
  const std::string& open = in.document->trace.path;
  return open == link.path || (!in.loading && !in.message.empty() && name_of(open) == name_of(link.path));
}

// A pasted link: once its file is open.
void follow_link(TraceView& view, WindowState& window, const FrameInput& in, Requests& out) {
  const Document* document = in.document;
  if (!window.link || !document || document->trace.is_part || !is_meant(*window.link, in)) return;
  if (document->trace.path != window.link->path) out.add(DismissMessage{});  // that it is not there
  const ViewLink link = *std::exchange(window.link, std::nullopt);
  const Trace& trace = document->trace;
  if (link.slice && link.slice.index() < trace.slice_count()) select_slice(view, link.slice, /*reveal=*/true);
  // Nothing where it is far from the trace: it is of another file.
  const auto time_of = [&](const std::optional<Span>& since_begin) -> std::optional<Span> {
    if (!since_begin || since_begin->end > trace.span.length() * 2 || since_begin->begin < -trace.span.length())
      return std::nullopt;
    return Span{trace.span.begin + since_begin->begin, trace.span.begin + since_begin->end};
  };
  const bool has_lanes = link.lanes.empty() || link.lanes.back().index() < trace.lanes.size();
  if (const std::optional<Span> marked = time_of(link.marked); marked && has_lanes) mark_area(view, {*marked, link.lanes});
  if (const std::optional<Span> time = time_of(link.time)) view.time = within_limits(TimeView{*time, 0, 0}, trace.span);
}

// A text field of ours takes the keyboard in this frame or the next.
bool typing_begins(const TraceView& view, const WindowState& window) {
  return view.search.wants_keys || view.search.has_keys || view.search.slash_frames > 0 || window.box.kind != BoxKind::none ||
         window.start.holds_keys || window.start.has_keys || window.sql.has_keys || view.notes.edit;
}

// It takes the keyboard in the frames that follow.
bool field_awaits_keys(const TraceView& view, const WindowState& window) {
  const bool box_waits = window.box.kind != BoxKind::none && !ImGui::GetIO().WantTextInput;
  const bool page_waits = window.start.holds_keys && !window.start.has_keys && !window.help_open;
  return view.search.wants_keys || view.search.slash_frames > 0 || box_waits || page_waits || window.start.replaced;
}

// Letters that no trace is there for begin a path; but for `?`, which the page itself offers.
bool path_begins(const WindowState& window) {
  const ImVector<ImWchar>& letters = ImGui::GetIO().InputQueueCharacters;
  return !window.help_open && window.box.kind == BoxKind::none && !letters.empty() && letters.front() > ' ' &&
         letters.front() != '?';
}

void run_presses(std::span<const KeyPress> presses, CommandScope& scope) {
  for (const KeyPress& press : presses) {
    run_press(press, scope);
    if (typing_begins(scope.view, scope.window)) return;  // what follows is meant for the field
  }
}

// A field that has been opened and asks for the keyboard.
bool field_opens(const TraceView& view, const WindowState& window) {
  return view.search.wants_keys || window.box.fresh || (window.start.holds_keys && !window.start.has_keys) || view.notes.edit;
}

// While a text field has the keyboard: chords with Ctrl that it has no use for. What one of them opens takes the keyboard over,
// also that of letters which are typed before it is drawn; the box of another command goes for it.
void run_chords(std::span<const KeyPress> presses, CommandScope& scope) {
  for (const KeyPress& press : presses) {
    if (!(press.mods & kCtrl) || is_of_text_field(press.key) || !command_for({press.key, press.mods})) continue;
    run_press(press, scope);
    if (!field_opens(scope.view, scope.window)) continue;
    if (!scope.window.box.fresh) scope.window.box = {};
    scope.window.sql.has_keys = scope.view.search.has_keys = false;
    ImGui::ClearActiveID();
    ImGui::GetIO().WantTextInput = false;
    return;
  }
}

// A child window on the surface with the panels' padding; to be ended.
void begin_padded(const char* id, const Box& box, const WindowState& window, ImGuiWindowFlags flags = ImGuiWindowFlags_None) {
  ImGui::SetCursorScreenPos({box.x0, box.y0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {8 * window.frame.scale, 6 * window.frame.scale});
#if IMGUI_VERSION_NUM >= 19000
  ImGui::BeginChild(id, {box.width(), box.height()}, ImGuiChildFlags_AlwaysUseWindowPadding, flags);
#else
  ImGui::BeginChild(id, {box.width(), box.height()}, false, ImGuiWindowFlags_AlwaysUseWindowPadding | flags);
#endif
  ImGui::PopStyleVar();
}

void draw_bottom(const Box& box, const Document& document, TraceView& view, WindowState& window, bool only_tabs,
                 Requests& out) {
  const float bar = std::round(kSplitter * window.frame.scale);
  const float dragged = draw_splitter("bottom", {box.x0, box.y0, box.x1, box.y0 + bar}, window);
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) toggle_full(window);
  if (dragged != 0 && !only_tabs) {
    float& px = window.settings.sizes.bottom_px;
    if (window.bottom_full || px <= 0) px = box.height() / window.frame.scale;  // the height before this drag
    px = std::max(kLeastBottom, px - dragged);
  }
  if (dragged != 0) window.bottom_full = false;
  begin_padded("bottom", {box.x0, box.y0 + bar, box.x1, box.y1}, window);
  draw_tabs(document, view, window, only_tabs, out);
  ImGui::EndChild();
}

// With nothing to show the panels below shrink to their tabs; the height that they were pulled to stays. The account is
// worth a panel only where the lanes keep enough room alongside it.
bool has_content(const Document& document, const TraceView& view, const WindowState& window, float height) {
  const bool details = is_panel_shown(window, "details");
  if (window.tab_wanted || (!details && !is_panel_shown(window, "overview"))) return true;
  if (details && (view.selection || chosen_gap(document, view).gap)) return true;
  const bool has_page = details ? has_account(document) : document.analysis() != nullptr;  // the account; the overview
  return has_page && !window.compare.open &&
         height >= kLeastForAccount * window.frame.scale / window.settings.zoom;  // larger letters close nothing
}

// Gives the room that is left of it.
float draw_right(const Box& box, const Document& document, TraceView& view, WindowState& window, Requests& out) {
  const float bar = std::round(kSplitter * window.frame.scale);
  const float most = std::max(kLeastFindings * window.frame.scale, box.width() * kMostFindingsShare);
  const float width = std::round(std::min(window.settings.sizes.findings_px * window.frame.scale, most));
  const float x0 = box.x1 - width;
  const float dragged = draw_splitter("findings", {x0, box.y0, x0 + bar, box.y1}, window);
  window.settings.sizes.findings_px = std::max(kLeastFindings, window.settings.sizes.findings_px - dragged);
  begin_padded("findings panel", {x0 + bar, box.y0, box.x1, box.y1}, window,
               draws_account(window) ? ImGuiWindowFlags_None : ImGuiWindowFlags_AlwaysVerticalScrollbar);
  draw_findings(document, view, window, out);
  ImGui::EndChild();
  return x0;
}

// How often a slice was selected, in either trace.
std::uint32_t selections_of(const ViewState& view) {
  return view.of(TraceSide::a).selections + view.of(TraceSide::b).selections;
}

}  // namespace

AppUi::AppUi()
    : timeline_(std::make_unique<TimelinePanel>()),
      compare_(std::make_unique<CompareView>()),
      snapshot_page_(std::make_unique<SnapshotPage>()) {}
AppUi::~AppUi() = default;

bool AppUi::moving() const {
  const TraceView& view = view_.active();
  return view.move.active || timeline_->moving() || compare_->timeline().moving() || snapshot_page_->moving() ||
         field_awaits_keys(view, view_.window) || awaits_click_ || frames_to_tab_ > 0 || hover_is_due();
}

const Document* AppUi::document() const { return view_.window.compare.side == TraceSide::b ? compare_->document() : document_; }
const TimelinePanel& AppUi::timeline() const {
  return view_.window.compare.side == TraceSide::b ? compare_->timeline() : *timeline_;
}

void AppUi::show_attach_page() {
  attach_page_.open = true;
  view_.window.start.holds_keys = false;  // the page has fields of its own
}

// The first click of a double-click opens the drawer, and moves what was clicked from under the pointer: the second one comes
// first.
bool AppUi::grows_under_click(const Box& room, float height) {
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 at = io.MouseClickedPos[0];
  const bool recent =
      io.MouseClickedTime[0] > 0 && ImGui::GetTime() - io.MouseClickedTime[0] < static_cast<double>(io.MouseDoubleClickTime);
  const bool in_drawer = at.y >= room.y1 - drawer_px_;
  const bool dragged = io.MouseDragMaxDistanceSqr[0] > io.MouseDragThreshold * io.MouseDragThreshold;
  awaits_click_ = drawer_px_ > 0 && height > drawer_px_ && recent && room.holds(at) && !in_drawer && !dragged;
  return awaits_click_;
}

// From top to bottom: menus, notices, timeline, panels, status.
void AppUi::draw_document(Box box, const FrameInput& in, const Document& document, TraceView& view, Requests& out) {
  WindowState& window = view_.window;
  const float top = box.y0;
  const bool whatif_shown = is_panel_shown(window, "whatif");
  ask_for_replays(*document_, view_.of(TraceSide::a), whatif_shown && view_.window.compare.side == TraceSide::a, out);
  if (compare_->document())
    ask_for_replays(*compare_->document(), view_.of(TraceSide::b), whatif_shown && view_.window.compare.side == TraceSide::b,
                    out);
  if (!window.start_open) box.y0 += draw_message(box, in, window, out);  // else it is on the page
  place("messages", {box.x0, top, box.x1, box.y0});
  const float status = std::round(kStatusHeight * window.frame.scale);
  draw_status_bar({box.x0, box.y1 - status, box.x1, box.y1}, in, view, window, out);
  place("status", {box.x0, box.y1 - status, box.x1, box.y1});
  box.y1 -= status;
  if (window.settings.sizes.bottom_open) {
    const float gpus = compare_->document() ? compare_->least_height({*document_, *timeline_}, view_)
                                            : timeline_->least_height(!view.notes.notes.empty());
    const float lanes = std::max({kLeastLanes * window.frame.scale, box.height() * kLeastLanesShare, gpus});
    const float tabs = std::round(kTabs * window.frame.scale);
    const float most = std::max(tabs, box.height() - lanes);
    const float dragged = window.settings.sizes.bottom_px * window.frame.scale;
    const float open = dragged > 0 ? dragged : (compare_->document() ? kBottomShareOfTwo : kBottomShare) * in.height_px;
    const float wanted = has_content(document, view, window, box.height()) ? std::round(std::min(open, most)) : tabs;
    const float whole = wanted < kLeastBottom * window.frame.scale ? tabs : wanted;
    const float bottom = window.bottom_full ? box.height() : grows_under_click(box, whole) ? drawer_px_ : whole;
    drawer_px_ = bottom;
    const std::uint32_t before = selections_of(view_);
    const bool only_tabs = bottom == tabs && !window.bottom_full;
    draw_bottom({box.x0, box.y1 - bottom, box.x1, box.y1}, document, view, window, only_tabs, out);
    place("drawer", {box.x0, box.y1 - bottom, box.x1, box.y1});
    selections_seen_ += selections_of(view_) - before;  // a tab's own row: the tab stays
    box.y1 -= bottom;
  }
  if (is_inspector_shown(window) && box.height() >= 1) {
    const float right = draw_right(box, document, view, window, out);
    place("findings", {right, box.y0, box.x1, box.y1});
    box.x1 = right;
  }
  const bool listen = !keys_taken() && !window.help_open && !window.start_open && !typing_begins(view, window);
  const TimelineKeys keys{in.presses, in.held, listen};
  if (in.loading_second) box.y1 -= draw_loading_second(box, *in.loading_second, window, out);
  if (compare_->document())
    compare_->draw({*document_, *timeline_}, view_, box, keys, in.delta_s, out);
  else
    timeline_->draw(document, view, window, box, keys, in.delta_s);
  (view_.window.compare.side == TraceSide::b ? compare_->timeline() : *timeline_).draw_menu(document, view, window, out);
  window.ranks.lanes_x0 = timeline_->areas().lanes.x0;
  window.ranks.lanes_x1 = timeline_->areas().lanes.x1;
  place("overview", timeline_->areas().overview);
  place("ruler", timeline_->areas().ruler);
  place_timeline(*timeline_);
  if (!compare_->document()) return;
  place_timeline(compare_->timeline());
  place("comparison", compare_->places().strip);
  place("header A", compare_->places().header[0]);
  place("header B", compare_->places().header[1]);
}

// Everything but the timelines is about the trace that is acted on.
void AppUi::frame(const FrameInput& whole, Requests& out) {
  WindowState& window = view_.window;
  window.frame.scale = whole.scale;
  window.frame.cpu_ms = whole.frame_ms;
  window.frame.elapsed_s = std::max(whole.elapsed_s, whole.delta_s);
  places_.clear();
  const TraceSide before = view_.window.compare.side;
  take_documents(whole);
  window.compare.loading = whole.loading_second != nullptr;
  const std::uint32_t selections = selections_of(view_);
  if (compare_->document())
    compare_->begin_frame({*document_, *timeline_}, view_,
                          !keys_taken() && !window.start_open && !typing_begins(view_.active(), window), whole.presses, out);
  selections_seen_ += selections_of(view_) - selections;  // a row of the comparison: its tab stays
  if (view_.window.compare.side != before) out.add(ActOn{view_.window.compare.side});
  TraceView& view = view_.active();  // which no command changes: another side is acted on from the next frame on
  FrameInput in = whole;
  in.document = document();
  window.settings.source_paths = in.editor.paths;
  window.settings.asks_for_sources = in.editor.asks;
  apply_theme(window.settings.theme, in.scale);
  const bool start_shown = !is_open(in) || window.start_open;
  if (!is_panel_shown(window, "sql")) window.sql.has_keys = false;
  if (!start_shown) window.start.holds_keys = window.start.has_keys = window.start.replaced = false;
  if (!is_open(in) && !keys_taken() && !editor_page_.open && !attach_page_.open && path_begins(window))
    window.start.holds_keys = true;
  CommandScope scope{start_shown ? nullptr : in.document, view, window, out};  // what is behind the page is left alone
  scope.has_snapshot = !start_shown && in.snapshot;
  scope.has_recorded = in.attach && in.attach->recordings > 0;
  if (!in.presses.empty() || ImGui::IsMouseClicked(0)) window.key_hint.clear();
  if (window.sql.has_keys && std::any_of(in.presses.begin(), in.presses.end(),
                                         [](const KeyPress& press) { return press.key == Key::f5 && press.mods == kNoMods; }))
    window.sql.wants_run = true;
  // Dear ImGui would walk through windows by Ctrl+Tab, whatever it is asked to.
  ImGui::GetCurrentContext()->NavWindowingTarget = ImGui::GetCurrentContext()->NavWindowingTargetAnim = nullptr;
  if (ImGui::IsMouseClicked(3)) run_command(CommandId::back, scope);
  if (ImGui::IsMouseClicked(4)) run_command(CommandId::forward, scope);
  follow_link(view, window, in, out);
  walk_menus(in.presses);
  if (!start_shown && !window.help_open && !keys_taken() && !typing_begins(view, window) && typing_at_sql_editor(window.sql))
    window.sql.has_keys = true;
  std::vector<KeyPress> presses;  // without those of a table
  if (keys_taken() || typing_begins(view, window)) {
    close_menus(in.presses);
    const auto is_escape = [](const KeyPress& press) { return press.key == Key::escape; };
    if (std::any_of(in.presses.begin(), in.presses.end(), is_escape))
      window.sql.has_keys = false;  // while it waits for them, too
    if (ImGui::GetIO().WantTextInput) run_chords(in.presses, scope);
  } else {
    presses = take_grid_keys(in.presses);
    take_menu_escape(presses);
    take_attach_keys(attach_page_, presses);
    if (editor_page_.open && std::erase_if(presses, [](const KeyPress& press) { return press.key == Key::escape; }) > 0)
      editor_page_.open = false;
    if (in.snapshot && !start_shown && !window.help_open && window.box.kind == BoxKind::none)
      snapshot_page_->take_keys(presses, window);
    in.presses = presses;
    run_presses(in.presses, scope);
  }

  choose_answer_tab(view, window);
  const bool finding_asked = view.signals.reveal_finding && !is_inspector_shown(window);  // its tab stays
  const float top = std::round(kTopBarHeight * in.scale);
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize({in.width_px, in.height_px});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {8 * in.scale, (top - ImGui::GetFontSize()) / 2});
  ImGui::Begin("gapscope", nullptr, kRootFlags);
  const bool bar = ImGui::BeginMenuBar();
  ImGui::PopStyleVar(4);
  const Box display{0, 0, in.width_px, in.height_px};
  if (bar) {
    ImGui::SetCursorPosX(kMenuIndent * in.scale);
    draw_top_bar({0, 0, display.x1, top}, in, scope);
    place("top bar", {0, 0, display.x1, top});
    ImGui::EndMenuBar();
  }
  if (in.document) draw_document({0, top, display.x1, display.y1}, in, *in.document, view, out);
  draw_snapshot({0, top, display.x1, display.y1}, in, out);
  ImGui::End();
  if (!is_open(in) || window.start_open) {
    draw_start_screen(in, window, out);
    place("start screen", {0, top, display.x1, display.y1});
  }
  const bool part_is_shown = in.document && in.document->trace.is_part;
  if (in.loading && !part_is_shown) draw_loading(*in.loading, window, out);
  if (in.document && !window.start_open) {
    const Box room{0, top, in.width_px, in.height_px - std::round(kStatusHeight * in.scale)};
    const float drawer = window.settings.sizes.bottom_open ? drawer_px_ : 0;
    const float page = drawer - std::round(kTabs * in.scale);
    draw_tour(window, in.presses, room, drawer, page);
  }
  if (window.help_open) draw_help_page(window);
  draw_command_box(in, scope);
  if (out.take<ShowEditorPage>()) show_editor_page(editor_page_, in.editor);
  draw_editor_page(editor_page_, window, out);
  if (out.take<ShowAttachPage>()) show_attach_page();
  if (in.attach) draw_attach_page(attach_page_, *in.attach, in.document != nullptr, window, out);
  const bool is_selected = std::exchange(selections_seen_, selections_of(view_)) != selections_of(view_);
  if (is_selected && !finding_asked) show_details_of_selection(view, window);
  if (take_opened_row() && view.selection) jump_to_panel(view, window, "details");
  frames_to_tab_ = window.signals.select_tab ? 2 : std::max(0, frames_to_tab_ - 1);
  for (const Request& request : out.list)
    if (const auto* copy = std::get_if<CopyText>(&request)) window.key_hint = copied_words(copy->text);
  draw_key_hint(window, {0, 0, in.width_px, in.height_px - std::round(kStatusHeight * in.scale)});
  // A field that was left in this frame would take the press of the next one, too.
  if (ImGui::GetCurrentContext()->ActiveId == 0) ImGui::GetCurrentContext()->WantTextInputNextFrame = 0;
  const bool at_rest = !ImGui::IsAnyMouseDown() && !ImGui::GetIO().WantTextInput && !view.notes.editing;
  if (in.document) view.edits.watch(edits_of(view), at_rest);
  if (out.has<StartFresh>()) {
    const TraceSide acted_on = view_.window.compare.side;
    start_fresh();
    if (view_.window.compare.side != acted_on) out.add(ActOn{view_.window.compare.side});
  }
}

}  // namespace gapscope
