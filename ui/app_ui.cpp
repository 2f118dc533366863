#include "ui/app_ui.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <imgui_internal.h>

#include "core/view/notes/kept_view.h"
#include "core/view/timeline/first_view.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/time_view.h"
#include "ui/command_box.h"
#include "ui/compare/compare_view.h"
#include "ui/findings/findings_panel.h"
#include "ui/key_hint.h"
#include "ui/menu_keys.h"
#include "ui/panel_tabs.h"
#include "ui/panels.h"
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
constexpr float kSplitter = 6;
constexpr float kMenuIndent = 4;
constexpr float kLeastFindings = 200;
constexpr float kMostFindingsShare = 0.45f;  // of the window's width

constexpr ImGuiWindowFlags kRootFlags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                        ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                        ImGuiWindowFlags_MenuBar | ImGuiWindowFlags_NoScrollWithMouse |
                                        ImGuiWindowFlags_NoNavInputs;

// A pasted link: once its file is open.
void follow_link(ViewState& view, const Document* document) {
  if (!view.link || !document || document->trace.is_part || document->trace.path != view.link->path) return;
  const ViewLink link = *std::exchange(view.link, std::nullopt);
  const Trace& trace = document->trace;
  if (link.slice && link.slice.index() < trace.slice_count()) select_slice(view, link.slice, /*reveal=*/true);
  if (!link.time || link.time->end > trace.span.length() * 2 || link.time->begin < -trace.span.length()) return;
  const Span time{trace.span.begin + link.time->begin, trace.span.begin + link.time->end};
  view.active().time = within_limits(TimeView{time, 0, 0}, trace.span);
}

// A text field of ours takes the keyboard in this frame or the next.
bool typing_begins(const ViewState& view) {
  return view.active().search.wants_keys || view.active().search.has_keys || view.active().search.slash_frames > 0 ||
         view.box.kind != BoxKind::none || view.start.holds_keys || view.start.has_keys || view.sql.has_keys;
}

// It takes the keyboard in the frames that follow.
bool field_awaits_keys(const ViewState& view) {
  const bool box_waits = view.box.kind != BoxKind::none && !ImGui::GetIO().WantTextInput;
  const bool page_waits = view.start.holds_keys && !view.start.has_keys && !view.help_open;
  return view.active().search.wants_keys || view.active().search.slash_frames > 0 || box_waits || page_waits ||
         view.start.replaced;
}

// Letters that no trace is there for begin a path; but for `?`, which the page itself offers.
bool path_begins(const ViewState& view) {
  const ImVector<ImWchar>& letters = ImGui::GetIO().InputQueueCharacters;
  return !view.help_open && view.box.kind == BoxKind::none && !letters.empty() && letters.front() > ' ' &&
         letters.front() != '?';
}

void run_presses(std::span<const KeyPress> presses, CommandScope& scope) {
  for (const KeyPress& press : presses) {
    run_press(press, scope);
    if (typing_begins(scope.view)) return;  // what follows is meant for the field
  }
}

// A child window on the surface with the panels' padding; to be ended.
void begin_padded(const char* id, const Box& box, const ViewState& view) {
  ImGui::SetCursorScreenPos({box.x0, box.y0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {8 * view.scale, 6 * view.scale});
#if IMGUI_VERSION_NUM >= 19000
  ImGui::BeginChild(id, {box.width(), box.height()}, ImGuiChildFlags_AlwaysUseWindowPadding);
#else
  ImGui::BeginChild(id, {box.width(), box.height()}, false, ImGuiWindowFlags_AlwaysUseWindowPadding);
#endif
  ImGui::PopStyleVar();
}

void draw_bottom(const Box& box, const Document& document, ViewState& view, bool only_tabs, Requests& out) {
  const float bar = std::round(kSplitter * view.scale);
  const float dragged = draw_splitter("bottom", {box.x0, box.y0, box.x1, box.y0 + bar}, view);
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) toggle_full(view);
  if (dragged != 0 && view.sizes.bottom_full) view.sizes.bottom_px = box.height() / view.scale;  // it goes on from there
  if (dragged != 0) view.sizes.bottom_full = false;
  if (!only_tabs) view.sizes.bottom_px = std::max(kLeastBottom, view.sizes.bottom_px - dragged);
  begin_padded("bottom", {box.x0, box.y0 + bar, box.x1, box.y1}, view);
  draw_tabs(document, view, only_tabs, out);
  ImGui::EndChild();
}

// With nothing to show the panels below shrink to their tabs; the height that somebody pulled them to is kept. The account is
// worth a panel only where the lanes keep enough room alongside it.
bool has_content(const Document& document, const ViewState& view, float height) {
  const bool details = is_panel_shown(view, "details");
  if (!details && (view.overview_wanted || !is_panel_shown(view, "overview"))) return true;
  if (details && (view.active().selection || chosen_gap(document, view.active()).gap)) return true;
  const bool has_page = details ? has_account(document) : document.analysis() != nullptr;        // the account; the overview
  return has_page && !view.compare.open && height >= kLeastForAccount * view.scale / view.zoom;  // larger letters close nothing
}

// Gives the room that is left of it. `verdict`: with what the tab "Overview" would show.
float draw_right(const Box& box, const Document& document, ViewState& view, bool verdict, Requests& out) {
  const float bar = std::round(kSplitter * view.scale);
  const float most = std::max(kLeastFindings * view.scale, box.width() * kMostFindingsShare);
  const float width = std::round(std::min(view.sizes.findings_px * view.scale, most));
  const float x0 = box.x1 - width;
  const float dragged = draw_splitter("findings", {x0, box.y0, x0 + bar, box.y1}, view);
  view.sizes.findings_px = std::max(kLeastFindings, view.sizes.findings_px - dragged);
  begin_padded("findings panel", {x0 + bar, box.y0, box.x1, box.y1}, view);
  verdict ? draw_findings(document, view, out) : draw_findings_alone(document, view, out);
  ImGui::EndChild();
  return x0;
}

}  // namespace

AppUi::AppUi() : timeline_(std::make_unique<TimelinePanel>()), compare_(std::make_unique<CompareView>()) {}
AppUi::~AppUi() = default;

bool AppUi::moving() const {
  return view_.active().move.active || timeline_->moving() || compare_->timeline().moving() || field_awaits_keys(view_) ||
         awaits_click_ || frames_to_tab_ > 0 || hover_is_due();
}

const Document* AppUi::document() const { return view_.active_side == TraceSide::b ? compare_->document() : document_; }
const TimelinePanel& AppUi::timeline() const { return view_.active_side == TraceSide::b ? compare_->timeline() : *timeline_; }

void AppUi::adopt(const Document* document, const Document* second) {
  compare_->act_on(TraceSide::a, view_);
  document_ = document;
  view_.start_open = false;
  view_.overview_wanted = false;
  forget_document(view_);
  view_.active().history.clear();
  timeline_->adopt(document, view_);
  if (document && !view_.tour.seen) view_.tour.open = true;
  if (compare_->document() != second)
    compare_->adopt(document, second, view_);
  else
    compare_->restart(document, view_);
}

void AppUi::grow(const Document& document) {
  timeline_->grow(*document_, document, view_);
  document_ = &document;
}

// Other documents than in the frame before.
void AppUi::take_documents(const FrameInput& in) {
  const Document* second = in.document ? in.second : nullptr;
  const Document* b = compare_->document();
  if (b && in.document == b) compare_->swap(document_, timeline_, view_);
  if (in.document != document_) {
    compare_->act_on(TraceSide::a, view_);
    if (in.document && document_ && in.part_before == document_) {
      const bool untouched =
          view_.active().time.span == first_view(document_->trace).span && view_.active().notes.notes.empty();
      grow(*in.document);
      if (second == compare_->document()) compare_->restart(document_, view_);
      if (in.kept && untouched) restore(*in.kept);
    } else {
      adopt(in.document, second == compare_->document() ? second : nullptr);  // another second one: the last may be gone by now
      if (in.kept) restore(*in.kept);
    }
  }
  if (second != compare_->document()) compare_->adopt(document_, second, view_);
}

void AppUi::restore(const KeptView& kept) {
  if (!document_ || document_->trace.is_part) return;
  restore_view(kept, document_->trace, view_);
  const auto table = panels();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].id != kept.tab) continue;
    view_.tab = i;
    view_.select_tab = true;
  }
}

// Notes are work that nobody wants to do twice: they stay.
void AppUi::start_fresh() {
  compare_->act_on(TraceSide::a, view_);
  std::vector<Note> notes = std::move(view_.active().notes.notes);
  adopt(document_, compare_->document());
  view_.active().notes.notes = std::move(notes);
}

void AppUi::show_attach_page() {
  attach_page_.open = true;
  view_.start.holds_keys = false;  // the page has fields of its own
}

void AppUi::place(const char* name, const Box& box) {
  if (box.width() > 0 && box.height() > 0) places_.push_back({name, box});
}

void AppUi::place_timeline(const TimelinePanel& timeline) {
  const TimelineAreas& areas = timeline.areas();
  timeline.window().each_part([&](const Box& part) {
    place("titles", {areas.titles.x0, part.y0, areas.titles.x1, part.y1});
    place("lanes", part);
  });
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
void AppUi::draw_document(Box box, const FrameInput& in, const Document& document, Requests& out) {
  const float top = box.y0;
  const bool whatif_shown = is_panel_shown(view_, "whatif");
  ask_for_replays(*document_, view_.of(TraceSide::a), whatif_shown && view_.active_side == TraceSide::a, out);
  if (compare_->document())
    ask_for_replays(*compare_->document(), view_.of(TraceSide::b), whatif_shown && view_.active_side == TraceSide::b, out);
  if (!view_.start_open) box.y0 += draw_message(box, in, view_, out);  // else it stands on the page
  box.y0 += draw_notice(box, in, view_, out);
  place("messages", {box.x0, top, box.x1, box.y0});
  const float status = std::round(kStatusHeight * view_.scale);
  draw_status_bar({box.x0, box.y1 - status, box.x1, box.y1}, in, view_, out);
  place("status", {box.x0, box.y1 - status, box.x1, box.y1});
  box.y1 -= status;
  bool page_shown = false;  // the tab "Overview", which says what the panel at the right begins with
  if (view_.sizes.bottom_open) {
    const float gpus =
        compare_->document() ? compare_->least_height({*document_, *timeline_}, view_) : timeline_->least_height();
    const float lanes = std::max({kLeastLanes * view_.scale, box.height() * kLeastLanesShare, gpus});
    const float tabs = std::round(kTabs * view_.scale);
    const float most = std::max(tabs, box.height() - lanes);
    const float wanted =
        has_content(document, view_, box.height()) ? std::round(std::min(view_.sizes.bottom_px * view_.scale, most)) : tabs;
    const float whole = wanted < kLeastBottom * view_.scale ? tabs : wanted;
    const float bottom = view_.sizes.bottom_full ? box.height() : grows_under_click(box, whole) ? drawer_px_ : whole;
    drawer_px_ = bottom;
    const std::uint32_t before = view_.selections;
    const bool only_tabs = bottom == tabs && !view_.sizes.bottom_full;
    draw_bottom({box.x0, box.y1 - bottom, box.x1, box.y1}, document, view_, only_tabs, out);
    page_shown = !only_tabs && is_panel_shown(view_, "overview");
    place("drawer", {box.x0, box.y1 - bottom, box.x1, box.y1});
    selections_seen_ += view_.selections - before;  // a tab's own row: the tab stays
    box.y1 -= bottom;
  }
  if (view_.findings.open && box.height() >= 1) {
    const float right = draw_right(box, document, view_, !page_shown, out);
    place("findings", {right, box.y0, box.x1, box.y1});
    box.x1 = right;
  }
  const bool listen = !keys_taken() && !view_.help_open && !view_.start_open && !typing_begins(view_);
  const TimelineKeys keys{in.presses, in.held, listen};
  if (in.loading_second) box.y1 -= draw_loading_second(box, *in.loading_second, view_, out);
  if (compare_->document())
    compare_->draw({*document_, *timeline_}, view_, box, keys, in.delta_s, out);
  else
    timeline_->draw(document, view_, box, keys, in.delta_s);
  (view_.active_side == TraceSide::b ? compare_->timeline() : *timeline_).draw_menu(document, view_, out);
  view_.ranks.lanes_x0 = timeline_->areas().lanes.x0;
  view_.ranks.lanes_x1 = timeline_->areas().lanes.x1;
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
  view_.scale = whole.scale;
  view_.frame_ms = whole.frame_ms;
  places_.clear();
  const TraceSide before = view_.active_side;
  take_documents(whole);
  view_.compare.loading = whole.loading_second != nullptr;
  const std::uint32_t selections = view_.selections;
  if (compare_->document())
    compare_->begin_frame({*document_, *timeline_}, view_, !keys_taken() && !view_.start_open && !typing_begins(view_),
                          whole.presses, out);
  selections_seen_ += view_.selections - selections;  // a row of the comparison: its tab stays
  if (view_.active_side != before) out.add(ActOn{view_.active_side});
  FrameInput in = whole;
  in.document = document();
  view_.source_paths = in.editor.paths;
  apply_theme(view_.theme, in.scale);
  const bool start_shown = !in.document || view_.start_open;
  if (!start_shown) view_.start.holds_keys = view_.start.has_keys = view_.start.replaced = false;
  if (!in.document && !keys_taken() && !editor_page_.open && !attach_page_.open && path_begins(view_))
    view_.start.holds_keys = true;
  CommandScope scope{start_shown ? nullptr : in.document, view_, out};  // what lies behind the page is left alone
  scope.has_recorded = in.attach && in.attach->recordings > 0;
  if (!in.presses.empty() || ImGui::IsMouseClicked(0)) view_.key_hint.clear();
  if (view_.sql.has_keys && std::any_of(in.presses.begin(), in.presses.end(),
                                        [](const KeyPress& press) { return press.key == Key::f5 && press.mods == kNoMods; }))
    view_.sql.wants_run = true;
  // Dear ImGui would walk through windows by Ctrl+Tab, whatever it is asked to.
  ImGui::GetCurrentContext()->NavWindowingTarget = ImGui::GetCurrentContext()->NavWindowingTargetAnim = nullptr;
  if (ImGui::IsMouseClicked(3)) run_command(CommandId::back, scope);
  if (ImGui::IsMouseClicked(4)) run_command(CommandId::forward, scope);
  follow_link(view_, in.document);
  walk_menus(in.presses);
  std::vector<KeyPress> presses;  // without those of a table
  if (keys_taken() || typing_begins(view_)) {
    close_menus(in.presses);
    const auto is_escape = [](const KeyPress& press) { return press.key == Key::escape; };
    if (std::any_of(in.presses.begin(), in.presses.end(), is_escape))
      view_.sql.has_keys = false;  // while it waits for them, too
  } else {
    presses = take_grid_keys(in.presses);
    take_attach_keys(attach_page_, presses);
    if (editor_page_.open && std::erase_if(presses, [](const KeyPress& press) { return press.key == Key::escape; }) > 0)
      editor_page_.open = false;
    in.presses = presses;
    run_presses(in.presses, scope);
  }

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
  const Box window{0, 0, in.width_px, in.height_px};
  if (bar) {
    ImGui::SetCursorPosX(kMenuIndent * in.scale);
    draw_top_bar({0, 0, window.x1, top}, in, scope);
    place("top bar", {0, 0, window.x1, top});
    ImGui::EndMenuBar();
  }
  if (in.document) draw_document({0, top, window.x1, window.y1}, in, *in.document, out);
  ImGui::End();
  if (!in.document || view_.start_open) {
    draw_start_screen(in, view_, out);
    place("start screen", {0, top, window.x1, window.y1});
  }
  const bool part_is_shown = in.document && in.document->trace.is_part;
  if (in.loading && !part_is_shown) draw_loading(*in.loading, view_, out);
  if (in.document && !view_.start_open)
    draw_tour(view_, {0, top, in.width_px, in.height_px - std::round(kStatusHeight * in.scale)});
  if (view_.help_open) draw_help_page(view_);
  draw_command_box(in, scope);
  if (out.take<ShowEditorPage>()) show_editor_page(editor_page_, in.editor);
  draw_editor_page(editor_page_, view_, out);
  if (out.take<ShowAttachPage>()) show_attach_page();
  if (in.attach) draw_attach_page(attach_page_, *in.attach, in.document != nullptr, view_, out);
  if (std::exchange(selections_seen_, view_.selections) != view_.selections) show_details_of_selection(view_);
  if (take_opened_row() && view_.active().selection) show_panel(view_, "details");
  frames_to_tab_ = view_.select_tab ? 2 : std::max(0, frames_to_tab_ - 1);
  draw_key_hint(view_, {0, 0, in.width_px, in.height_px - std::round(kStatusHeight * in.scale)});
  // A field that was left in this frame would take the press of the next one, too.
  if (ImGui::GetCurrentContext()->ActiveId == 0) ImGui::GetCurrentContext()->WantTextInputNextFrame = 0;
  const bool at_rest = !ImGui::IsAnyMouseDown() && !ImGui::GetIO().WantTextInput;
  if (in.document) view_.active().edits.watch(edits_of(view_.active()), at_rest);
  if (out.has<StartFresh>()) {
    const TraceSide acted_on = view_.active_side;
    start_fresh();
    if (view_.active_side != acted_on) out.add(ActOn{view_.active_side});
  }
}

}  // namespace gapscope
