// Over 400 lines: one table of every command.
#include "ui/commands.h"
#include "core/view/document.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <imgui.h>

#include "core/analyze/captured/captured_work.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/diagnose/guide.h"
#include "core/view/findings/findings_model.h"
#include "core/view/link.h"
#include "core/view/preferences.h"
#include "core/view/selection/area_model.h"
#include "core/view/timeline/first_view.h"
#include "core/view/timeline/flow_choice.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/lane_folds.h"
#include "core/view/timeline/shown_neighbours.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/start/path_completion.h"
#include "ui/timeline/timeline_input.h"
#include "ui/whatif/whatif_panel.h"
#include "ui/widgets/table_file.h"

namespace gapscope {
namespace {

constexpr double kStepZoom = 0.7;         // one choice of "Zoom in" in the menu
constexpr double kStepPan = 0.2;          // of the visible width
constexpr std::uint8_t kSlashFrames = 3;  // a key's letter arrives this many frames after the key, at most
constexpr double kStepScroll = 240;       // px at scale 1

constexpr float kMagnify = 1.1f;

bool has_document(const CommandScope& s) { return s.document != nullptr; }
bool has_opened(const CommandScope& s) { return has_document(s) || s.has_snapshot; }
bool has_whole(const CommandScope& s) { return s.document && !s.document->trace.is_part; }
bool has_first(const CommandScope& s) { return has_whole(s) || s.has_snapshot; }
bool has_two(const CommandScope& s) { return s.document && s.window.compare.open; }
bool can_close_beside(const CommandScope& s) { return has_two(s) || s.window.compare.loading; }
bool has_selection(const CommandScope& s) { return s.document && s.view.selection.valid(); }
bool has_hits(const CommandScope& s) {
  return s.document && answer_to<SearchQuestion>(*s.document) && !answer_to<SearchQuestion>(*s.document)->hits.empty();
}
// Enter walks through what was found, too, as long as no table's row was chosen since.
bool has_cycle(const CommandScope& s) {
  const bool is_kernel = has_selection(s) && s.document->trace.kind(s.view.selection) == Kind::kernel;
  return s.document && (!s.view.cycle.slices.empty() || has_hits(s) || is_kernel);
}
bool has_findings(const CommandScope& s) { return s.document && s.document->diagnosis(); }
bool has_python(const CommandScope& s) {
  return s.document && s.document->arrangements() && s.document->arrangements()->any_python;
}
bool can_leave_flame(const CommandScope& s) { return s.view.flame.zoom != 0 && is_panel_shown(s.window, "flame"); }
bool has_hints(const CommandScope& s) { return s.document && s.window.tour.open; }
bool can_deselect(const CommandScope& s) {
  return can_leave_flame(s) || has_hints(s) || s.window.help_open || s.window.start_open || !s.view.search.typed.text.empty() ||
         s.view.selection.valid() || s.view.range;
}
bool can_go_back(const CommandScope& s) { return s.document && s.view.history.can_go_back(place_of(s.view)); }
bool can_go_forward(const CommandScope& s) { return s.document && s.view.history.can_go_forward(); }

Span reach(const CommandScope& s) { return axis_reach(s.view, s.document->trace.span); }
void zoom(CommandScope& s, double factor) { go_to(s.view, s.window, zoomed(s.view.time, factor, 0.5, reach(s))); }
// In steps of a tenth that meet 1 again.
void magnify(CommandScope& s, float factor) {
  const float steps = std::round(std::log(s.window.settings.zoom * factor) / std::log(kMagnify));
  s.window.settings.zoom = std::clamp(std::pow(kMagnify, steps), kLeastZoom, kMostZoom);
}
void pan(CommandScope& s, double widths) { go_to(s.view, s.window, panned(s.view.time, widths, reach(s))); }

// Esc takes away one thing at a time, the topmost first.
void leave_topmost(CommandScope& s) {
  if (s.window.help_open) {
    s.window.help_open = false;
  } else if (s.window.start_open) {
    s.window.start_open = false;
  } else if (has_hints(s)) {
    s.window.tour.open = false;
    s.window.settings.tour_seen = true;
  } else if (can_leave_flame(s)) {
    s.view.flame.zoom = 0;
  } else if (!s.view.search.typed.text.empty()) {
    s.view.search = {};
  } else if (s.view.selection) {
    s.view.selection = {};
  } else {
    clear_area(s.view);
  }
}

bool has_range(const CommandScope& s) { return s.document && !s.document->trace.is_part && s.view.range; }
bool replays_graphs(const CommandScope& s) {
  return s.document && !s.document->trace.is_part && s.document->trace.captured != nullptr;
}
bool has_recorded(const CommandScope& s) { return s.has_recorded; }
bool has_note(const CommandScope& s) { return s.document && s.view.notes.chosen >= 0; }

// What is selected, but not where the marked time lies elsewhere: that was marked after it.
std::optional<Span> span_to_mark(const CommandScope& s) {
  if (!s.document) return std::nullopt;
  const DeviceGap* gap = chosen_gap(*s.document, s.view).gap;
  std::optional<Span> chosen;
  if (s.view.selection)
    chosen = s.document->trace.span_of(s.view.selection);
  else if (gap)
    chosen = gap->span;
  const bool elsewhere = chosen && s.view.range && (chosen->end <= s.view.range->begin || chosen->begin >= s.view.range->end);
  return chosen && !elsewhere ? chosen : s.view.range;
}
bool has_span_to_mark(const CommandScope& s) { return span_to_mark(s).has_value(); }

Span here(const CommandScope& s) {
  const Span& visible = s.view.time.span;
  const Ns at = s.view.notes.pointer.value_or(visible.begin + visible.length() / 2);
  return {at, at};
}

// There always is one: who writes a note types on, and without its field letters would be commands.
Span span_to_keep(const CommandScope& s) {
  const bool chosen = s.view.selection || chosen_gap(*s.document, s.view).gap;
  return !chosen && !s.view.notes.marks.empty() ? s.view.notes.marks.back() : span_to_mark(s).value_or(here(s));
}

// `why_not`: said where there is none.
void select_found(CommandScope& s, SliceId slice, const char* why_not) {
  if (!slice.valid())
    s.why_not = why_not;
  else
    select_slice(s.view, slice, true);
}

// Up and down the way from a step to its kernels; down the same way that led up.
void go_up(CommandScope& s) {
  const SliceId from = s.view.selection;
  std::vector<SliceId> way = std::move(s.view.way_up);
  select_found(s, shown_cause(*s.document, s.view.folds, from), "no slice encloses or launches this one");
  if (s.view.selection != from) way.push_back(from);
  s.view.way_up = std::move(way);
}

void go_down(CommandScope& s) {
  std::vector<SliceId> way = std::move(s.view.way_up);
  const SliceId back = way.empty() ? SliceId{} : way.back();
  if (back) way.pop_back();
  select_found(s, back ? back : shown_effect(*s.document, s.view.folds, s.view.selection),
               "this slice contains no slice and launched no work");
  s.view.way_up = std::move(way);
}

// Both ends stay in sight where they fit.
void follow_arrow(CommandScope& s, bool forward) {
  const SliceId from = s.view.selection;
  select_found(s, end_of_arrow(*s.document, s.view, forward),
               forward ? "no arrow leaves this slice" : "no arrow arrives at this slice");
  if (s.view.selection != from) s.view.signals.reveal_with = from;
}

void choose_arrow(CommandScope& s, int by) {
  if (arrows_of(*s.document, s.view.selection).empty()) s.why_not = "this slice has no arrows";
  walk_arrows(*s.document, s.view, s.window, by);
}

void go_to_next_finding(CommandScope& s, int by) {
  if (shown_findings(*s.document->diagnosis(), s.window.settings.findings, s.view.range).empty())
    s.why_not = s.view.range ? "no finding in the selected time" : "no finding here";
  walk_findings(*s.document, s.view, s.window, by);
}

void walk_hits(CommandScope& s, int step) {
  const Ns now = s.view.time.span.begin;
  select_found(s, step_hit(s.document->trace, *answer_to<SearchQuestion>(*s.document), s.view.selection, now, step),
               "no other hit");
}

// All runs of a kernel, to be walked.
SliceCycle runs_of(const Document& document, StringId name) {
  return {kernel_title(document.trace.strings[name]),
          kernel_calls(document.trace, document.names.slices_named(name), name, std::nullopt).slices};
}

bool is_lone_kernel(const CommandScope& s) {
  return s.document && s.view.selection && s.document->trace.kind(s.view.selection) == Kind::kernel &&
         s.view.cycle.position(s.view.selection) == 0;
}

void walk_kind(CommandScope& s, int step) {
  SliceCycle& cycle = s.view.cycle;
  if (is_lone_kernel(s) && !(cycle.slices.empty() && has_hits(s)))
    cycle = runs_of(*s.document, s.document->trace.name_id(s.view.selection));
  if (cycle.slices.empty()) return walk_hits(s, step);
  select_found(s, step > 0 ? cycle.next(s.view.selection) : cycle.previous(s.view.selection), "there is no other one");
}

void list_what_was_found(CommandScope& s) {
  const SliceCycle& cycle = s.view.cycle;
  if (cycle.slices.empty())
    open_list(s.view, s.window,
              list_of_slices(s.document->trace, answer_to<SearchQuestion>(*s.document)->question.text,
                             answer_to<SearchQuestion>(*s.document)->hits));
  else
    open_list(s.view, s.window, list_of_slices(s.document->trace, cycle.title, cycle.slices));
}

void find_slice(CommandScope& s) {
  s.view.search.wants_keys = true;
  s.view.search.slash_frames = kSlashFrames;
}

// One window for the keys and the pages of the guide.
void toggle_help(WindowState& window, bool guide) {
  const bool shows_it = window.help_open && window.help_page.empty() != guide;
  window.help_open = !shows_it;
  if (window.help_page.empty() == guide) window.help_page = guide ? guide_pages().front().name : "";
}

// The next file is often in the same folder.
void choose_file(CommandScope& s, bool as_second) {
  StartFields& fields = s.window.start;
  if (s.document) fields.path = fields.base = std::string(split_typed(s.document->trace.path).folder);
  fields.holds_keys = true;
  fields.has_keys = false;      // it takes them anew, with the other path
  fields.caret_to_end = false;  // all of it is marked, to be typed over
  fields.awaits = StartFields::Awaits::nothing;
  fields.asked = false;  // files come and go
  fields.as_second = as_second;
  s.window.start_open = true;
}

ViewLink link_of(const Document& document, const TraceView& view) {
  const auto since_begin = [zero = document.trace.span.begin](Span span) { return Span{span.begin - zero, span.end - zero}; };
  ViewLink link{document.trace.path, since_begin(view.time.span), view.selection, std::nullopt, {}};
  if (view.range) link.marked = since_begin(*view.range);
  if (const Area* area = marked_area(view)) link.lanes = area->lanes;
  return link;
}

void step_tab(WindowState& window, int by) {
  const auto count = static_cast<std::ptrdiff_t>(kPanels.size());
  show_panel(window, kPanels[static_cast<std::size_t>((static_cast<std::ptrdiff_t>(window.tab) + by + count) % count)].id);
}

// The device whose gaps keys walk through; null where there are none.
const DeviceAccount* device_with_gaps(const CommandScope& s) {
  const TimeAccount* account = s.document ? account_of(*s.document) : nullptr;
  if (!account) return nullptr;
  const DeviceAccount* chosen = chosen_gap(*s.document, s.view).device;
  const DeviceAccount* device = chosen ? chosen : account->busiest();
  return device && !device->gaps.empty() ? device : nullptr;
}
bool has_gaps(const CommandScope& s) { return device_with_gaps(s) != nullptr; }

void go_to_gap(CommandScope& s, const DeviceAccount& device, std::optional<std::size_t> gap) {
  if (gap)
    choose_gap(*s.document, s.view, s.window, device.device, *gap, /*go_there=*/true);
  else
    s.why_not = s.view.range ? "no gap begins in the selected time" : "no gap begins here";
}

void go_to_largest_gap(CommandScope& s) {
  const DeviceAccount& device = *device_with_gaps(s);
  go_to_gap(s, device, longest_gap(device, account_stretch(*s.document, s.view).span));
}

void go_to_next_gap(CommandScope& s) {
  const DeviceAccount& device = *device_with_gaps(s);
  const DeviceGap* gap = chosen_gap(*s.document, s.view).gap;
  if (!gap) return go_to_largest_gap(s);
  go_to_gap(s, device,
            next_gap(device, gap->main, account_stretch(*s.document, s.view).span,
                     static_cast<std::size_t>(gap - device.gaps.data())));
}

bool has_kernels(const CommandScope& s) {
  return s.document && s.document->analysis() && !s.document->analysis()->kernels().rows.empty();
}

// The longest run of all kernels; where that is selected, the longest of the next kernel.
void go_to_slowest_kernel(CommandScope& s) {
  const Trace& trace = s.document->trace;
  std::vector<const KernelRow*> rows;
  for (const KernelRow& row : s.document->analysis()->kernels().rows)
    if (row.kind == Kind::kernel && row.longest) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [&](const KernelRow* a, const KernelRow* b) {
    return trace.duration(a->longest) > trace.duration(b->longest);
  });
  if (rows.empty()) return void(s.why_not = "this trace has no kernels");
  const auto now =
      std::find_if(rows.begin(), rows.end(), [&](const KernelRow* row) { return row->longest == s.view.selection; });
  const KernelRow& row = now == rows.end() || now + 1 == rows.end() ? *rows.front() : **(now + 1);
  s.view.cycle = runs_of(*s.document, row.name);
  select_slice(s.view, row.longest, /*reveal=*/true);
  enlarge(s.view, s.window, trace.span_of(row.longest), trace);
}

// The clipboard is not looked at before: its owner may be slow to answer.
void open_copied_path(CommandScope& s) {
  const char* text = ImGui::GetCurrentContext() ? ImGui::GetClipboardText() : nullptr;
  if (const std::optional<ViewLink> link = text ? parse_link(text) : std::nullopt) {
    s.window.link = link;
    return s.out.add(OpenFile{link->path, false});
  }
  const std::optional<std::string> path = text ? copied_path(text) : std::nullopt;
  if (!path) return void(s.why_not = "the copied text is not an absolute path");
  s.out.add(OpenFile{*path, s.window.start_open && s.window.start.as_second});
}

void open_box(CommandScope& s, BoxKind kind) { s.window.box = {kind, "", 0, true}; }

void pin_lane_of_selection(CommandScope& s) {
  const LaneId lane = s.document->trace.lane_id(s.view.selection);
  set_pinned(s.view.folds, lane, !s.view.folds.lane_pinned[lane.index()]);
}

void go_back(CommandScope& s, bool forward) {
  ViewHistory& history = s.view.history;
  bool& open = s.window.settings.sizes.bottom_open;
  // What a way back has hidden comes again; what was hidden since then does not.
  const bool shows = open || (!history.places().empty() && history.places()[history.current()].tab == kNoTab);
  const std::optional<ViewPlace> place = forward ? history.forward(place_of(s.view)) : history.back(place_of(s.view));
  if (!place) return;
  if (place->tab == kNoTab)
    open = false;
  else if (place->tab && *place->tab < kPanels.size() && shows)
    show_panel(s.window, kPanels[*place->tab].id);
  go_to(s.view, s.window, within_limits(TimeView{place->span, 0, 0}, reach(s)));
  s.view.scroll_px = place->scroll_px;
  if (place->selection) select_slice(s.view, place->selection, false);
}

// What each command needs, and what to do where it is not there. Without a trace that comes first.
constexpr CommandNeed kTrace{has_document, "open a trace first"};
constexpr CommandNeed kGraphs{replays_graphs, "this trace replays no graphs"};
constexpr CommandNeed kOpened{has_opened, "open a trace first"};
constexpr CommandNeed kFirst{has_first, "wait until all of the trace is loaded"};
constexpr CommandNeed kWhole{has_whole, "wait until all of the trace is loaded"};
constexpr CommandNeed kTwo{has_two, "open a second trace first (Ctrl+Shift+O)"};
constexpr CommandNeed kBeside{can_close_beside, "no second trace is open"};
constexpr CommandNeed kSelection{has_selection, "select a slice first"};
constexpr CommandNeed kHits{has_hits, "find something first (/)"};
constexpr CommandNeed kCycle{has_cycle, "choose a kernel or a row of a table first, or find something (/)"};
constexpr CommandNeed kFindings{has_findings, "the rules are still running"};
constexpr CommandNeed kPython{has_python, "this trace has no Python frames"};
constexpr CommandNeed kSomething{can_deselect, ""};
constexpr CommandNeed kBack{can_go_back, "no earlier view"};
constexpr CommandNeed kForward{can_go_forward, "nothing to go forward to"};
constexpr CommandNeed kGaps{has_gaps, "this trace has no known idle time of a GPU"};
constexpr CommandNeed kKernels{has_kernels, "this trace has no known kernels"};
constexpr CommandNeed kRange{has_range, "drag in the ruler first, to select a time"};
bool has_changes(const CommandScope& s) { return s.document && !s.view.what_if.changes.empty(); }
constexpr CommandNeed kChanges{has_changes, "change something in the tab What if first"};
const RankedFinding* chosen_finding(const CommandScope& s) {
  const std::int32_t chosen = has_findings(s) ? s.view.finding.chosen : -1;
  return chosen >= 0 ? &s.document->diagnosis()->findings[static_cast<std::size_t>(chosen)] : nullptr;
}
bool has_finding_to_try(const CommandScope& s) { return chosen_finding(s) && can_try(*chosen_finding(s)); }
constexpr CommandNeed kFindingToTry{has_finding_to_try, "choose a finding first (N) that has a remedy to replay"};
bool has_tried_finding(const CommandScope& s) { return has_findings(s) && last_tried(s.view.what_if.changes) >= 0; }
constexpr CommandNeed kTriedFinding{has_tried_finding, "tick a finding's remedy in the tab What if first"};
bool can_undo(const CommandScope& s) { return s.document && s.view.edits.can_undo(); }
bool can_redo(const CommandScope& s) { return s.document && s.view.edits.can_redo(); }
constexpr CommandNeed kUndo{can_undo, "no change to undo; Alt+Left goes back to the view before"};
constexpr CommandNeed kRedo{can_redo, "no change to redo"};
bool has_table(const CommandScope& s) { return s.document && s.window.settings.sizes.bottom_open && shows_table(); }
constexpr CommandNeed kTable{has_table, "the open tab has no table"};
constexpr CommandNeed kRecorded{has_recorded, "record a running program first"};
constexpr CommandNeed kNote{has_note, "choose a note first"};
constexpr CommandNeed kSpanToMark{has_span_to_mark, "select a slice or a gap, or mark a range first"};

using enum CommandId;

// clang-format off
constexpr auto kCommands = std::to_array<Command>({
  {open_file, Menu::file, "Open...", "Open one trace: type a path, browse, or take a recent one or a sample.",
   {{{Key::o, kCtrl}}}, false, nullptr, [](CommandScope& s) { choose_file(s, false); }},
  {open_copied, Menu::file, "Open the copied path", "Open the trace whose path you copied in a file manager or a terminal.",
   {{{Key::v, kCtrl}}}, false, nullptr, open_copied_path},
  {compare_with, Menu::file, "Compare with...", "Open a second trace below this one and show what changed.",
   {{{Key::o, kCtrl | kShift}}}, false, &kFirst, [](CommandScope& s) { choose_file(s, true); }},
  {open_capture, Menu::file, "Open the capture of these graphs", "Choose the recording of the graphs' capture. Their kernels then get its operators, modules and Python lines.",
   {}, false, &kGraphs, [](CommandScope& s) { choose_file(s, true); }},
  {record_program, Menu::file, "Record a running program...", "Record PyTorch programs that already run on this machine, and open their traces.",
   {}, false, nullptr, [](CommandScope& s) { s.out.add(ShowAttachPage{}); }},
  {record_again, Menu::file, "Record again and compare", "Record the same programs again, and compare with the open trace.",
   {}, false, &kRecorded, [](CommandScope& s) { s.out.add(ShowAttachPage{}), s.out.add(RecordAgain{}); }},
  {swap_traces, Menu::file, "Swap the two traces", "Exchange the two traces, so that gains become losses.",
   {}, false, &kTwo, [](CommandScope& s) { s.out.add(SwapTraces{}); }},
  {close_beside, Menu::file, "Close B", "Close the lower trace of the two.",
   {{{Key::w, kCtrl | kShift}}}, false, &kBeside, [](CommandScope& s) { s.out.add(CloseSecond{}); }},
  {reload, Menu::file, "Reload", "Read the file again from disk.",
   {{{Key::f5}, {Key::r, kCtrl}}}, false, &kOpened, [](CommandScope& s) { s.out.add(ReloadFile{}); }},
  {close_file, Menu::file, "Close", "Close the trace and go back to the start screen.",
   {{{Key::w, kCtrl}}}, false, &kOpened, [](CommandScope& s) { s.out.add(CloseFile{}); }},
  {copy_name, Menu::file, "Copy name", "Copy the whole name of the selected slice.",
   {{{Key::c, kCtrl}}}, false, &kSelection,
   [](CommandScope& s) { s.out.add(CopyText{std::string(s.document->trace.name(s.view.selection))}); }},
  {copy_json, Menu::file, "Copy as JSON", "Copy the selected slice's event as it is in the file.",
   {{{Key::c, kCtrl | kShift}}}, false, &kSelection, [](CommandScope& s) { s.out.add(CopyEvent{s.view.selection}); }},
  {save_html, Menu::exports, "Overview as HTML", "Save the overview with your notes as one HTML file.",
   {}, false, &kWhole, [](CommandScope& s) { s.out.add(SaveHtml{s.view.notes.notes}); }},
  {screenshot, Menu::exports, "Picture", "Save this window as a PNG next to the trace.",
   {{{Key::f12}}}, false, nullptr, [](CommandScope& s) { s.out.add(TakeScreenshot{}); }},
  {save_table, Menu::exports, "Table of the tab as CSV", "Save the rows of the tab below as CSV next to the trace.",
   {}, false, &kTable, [](CommandScope&) { want_table_saved(); }},
  {save_visible, Menu::exports, "Crop to the visible time", "Save the visible time as a separate trace, with its notes.",
   {{{Key::s, kCtrl | kShift}}}, false, &kWhole, [](CommandScope& s) { s.out.add(SaveCrop{s.view.time.span}); }},
  {save_range, Menu::exports, "Crop to the selected time", "Save the time selected in the ruler as a separate trace.",
   {}, false, &kRange, [](CommandScope& s) { s.out.add(SaveCrop{*s.view.range}); }},
  {copy_link, Menu::file, "Copy link", "Copy a link to this file, time and selection. Paste it into the window to open them.",
   {}, false, &kWhole, [](CommandScope& s) { s.out.add(CopyText{link_text(link_of(*s.document, s.view))}); }},
  {undo, Menu::file, "Undo", "Undo the last change of notes, marks, lanes, filters or the selected time.",
   {{{Key::z, kCtrl}}}, false, &kUndo, [](CommandScope& s) { take_edits(s.view, s.view.edits.undo()); }},
  {redo, Menu::file, "Redo", "Redo the last undone change.",
   {{{Key::z, kCtrl | kShift}, {Key::y, kCtrl}}}, false, &kRedo, [](CommandScope& s) { take_edits(s.view, s.view.edits.redo()); }},
  {quit, Menu::file, "Quit", "Close the window.",
   {{{Key::q, kCtrl}}}, false, nullptr, [](CommandScope& s) { s.out.add(Quit{}); }},

  {toggle_python, Menu::lanes, "Python frames", "Show or hide the Python frames of threads.",
   {{{Key::y}}}, false, &kPython, [](CommandScope& s) { gapscope::toggle_python(s.view.folds); }},
  {toggle_compact, Menu::lanes, "Thin lanes", "Draw every depth thin and without labels, so that more lanes fit.",
   {{{Key::c}}}, false, &kTrace, [](CommandScope& s) { gapscope::toggle_compact(s.view.folds); }},
  {only_gpu, Menu::lanes, "Fold all but GPU", "Fold every lane that is not a GPU stream. Again: open all.",
   {{{Key::l}}}, false, &kTrace, [](CommandScope& s) { toggle_all_but_gpu(s.view.folds, s.document->trace); }},
  {pin_lane, Menu::lanes, "Pin the lane", "Pin the selected slice's lane to the top, or unpin it.",
   {{{Key::t}}}, false, &kSelection, pin_lane_of_selection},
  {collapse_all, Menu::lanes, "Fold all lanes", "Show only the outermost slices of every lane.",
   {}, false, &kTrace, [](CommandScope& s) { set_all_lanes(s.view.folds, true); }},
  {expand_all, Menu::lanes, "Open all lanes", "Show every depth of every lane.",
   {}, false, &kTrace, [](CommandScope& s) { set_all_lanes(s.view.folds, false); }},
  {toggle_bottom, Menu::view, "Panels below", "Show or hide the panels below the lanes.",
   {{{Key::q}}}, false, &kTrace, [](CommandScope& s) { s.window.settings.sizes.bottom_open = !s.window.settings.sizes.bottom_open; }},
  {full_bottom, Menu::view, "Panels in full height", "Give the panels below the full height, or restore it. A double click on their tab does the same.",
   {{{Key::q, kShift}}}, false, &kTrace, [](CommandScope& s) { toggle_full(s.window); }},
  {next_tab, Menu::tabs, "Next tab", "Show the next of the tabs below.",
   {{{Key::tab, kCtrl}, {Key::page_down, kCtrl}}}, false, &kTrace, [](CommandScope& s) { step_tab(s.window, 1); }},
  {previous_tab, Menu::tabs, "Previous tab", "Show the previous tab.",
   {{{Key::tab, kCtrl | kShift}, {Key::page_up, kCtrl}}}, false, &kTrace, [](CommandScope& s) { step_tab(s.window, -1); }},
  {pin_tab, Menu::tabs, "Pin the tab", "Stay on the open tab when a slice is selected, or switch to the details.",
   {}, false, &kTrace, [](CommandScope& s) { s.window.tab_pinned = !s.window.tab_pinned; }},
  {toggle_findings, Menu::view, "Findings", "Show or hide the findings: what costs time, the evidence, what to do.",
   {{{Key::b}}}, false, &kTrace, [](CommandScope& s) { gapscope::toggle_findings(s.window); }},
  {toggle_informational, Menu::view, "Informational findings", "Show or hide findings that are not problems.",
   {{{Key::i}}}, false, &kTrace, [](CommandScope& s) { s.window.settings.findings.quiet = !s.window.settings.findings.quiet; }},
  {toggle_path, Menu::view, "Critical path", "Show the critical path: a row above the lanes, and marks on its slices.",
   {{{Key::k}}}, false, &kWhole, [](CommandScope& s) { s.view.what_if.path = !s.view.what_if.path; }},
  {toggle_ghost, Menu::view, "Replayed GPUs", "Show or hide the GPUs as replayed with the changes of the tab What if.",
   {}, false, &kChanges, [](CommandScope& s) { s.view.what_if.ghost = !s.view.what_if.ghost; }},
  {clear_changes, Menu::view, "Clear what-if", "Remove all changes of the tab What if.",
   {}, false, &kChanges, [](CommandScope& s) { s.view.what_if.changes = {}; }},
  {cycle_flows, Menu::view, "Arrows", "Show arrows: of the selection, of all launches, from forward to backward, or all.",
   {{{Key::f, kShift}}}, false, &kTrace, [](CommandScope& s) { s.view.flows.show = next_flow_show(s.view.flows.show); }},
  {toggle_theme, Menu::appearance, "Light or dark", "Change between the light and the dark theme.",
   {}, false, nullptr,
   [](CommandScope& s) { s.window.settings.theme = s.window.settings.theme == ThemeName::dark ? ThemeName::light : ThemeName::dark; }},
  {toggle_animation, Menu::appearance, "Smooth jumps", "Animate jumps, or not.",
   {}, false, nullptr, [](CommandScope& s) { s.window.settings.animate = !s.window.settings.animate; }},
  {toggle_colours, Menu::appearance, "Colour-blind safe", "Draw slices in colours for any colour vision, or in the usual ones.",
   {}, false, nullptr,
   [](CommandScope& s) { s.window.settings.slice_colours = s.window.settings.slice_colours == Palette::usual ? Palette::colour_blind : Palette::usual; }},
  {editor_page, Menu::view, "Editor and sources...", "Choose the editor for source lines, and where recorded folders are on this machine.",
   {}, false, nullptr, [](CommandScope& s) { s.out.add(ShowEditorPage{}); }},
  {zoom_text_in, Menu::appearance, "Larger", "Make everything in the window larger.",
   {{{Key::plus, kCtrl}, {Key::equal, kCtrl}}}, false, nullptr, [](CommandScope& s) { magnify(s, kMagnify); }},
  {zoom_text_out, Menu::appearance, "Smaller", "Make everything in the window smaller.",
   {{{Key::minus, kCtrl}}}, false, nullptr, [](CommandScope& s) { magnify(s, 1 / kMagnify); }},
  {zoom_text_reset, Menu::appearance, "Usual size", "Restore the usual size.",
   {{{Key::digit_0, kCtrl}}}, false, nullptr, [](CommandScope& s) { s.window.settings.zoom = 1; }},

  {zoom_in, Menu::go, "Zoom in", "Zoom in about the pointer; hold to go faster.",
   {{{Key::w}}}, true, &kTrace, [](CommandScope& s) { zoom(s, kStepZoom); }},
  {zoom_out, Menu::go, "Zoom out", "Zoom out about the pointer; hold to go faster.",
   {{{Key::s}}}, true, &kTrace, [](CommandScope& s) { zoom(s, 1 / kStepZoom); }},
  {pan_left, Menu::go, "Pan left", "Move to earlier times; hold to go faster.",
   {{{Key::a}, {Key::left}}}, true, &kTrace, [](CommandScope& s) { pan(s, -kStepPan); }},
  {pan_right, Menu::go, "Pan right", "Move to later times; hold to go faster.",
   {{{Key::d}, {Key::right}}}, true, &kTrace, [](CommandScope& s) { pan(s, kStepPan); }},
  {scroll_up, Menu::go, "Scroll up", "Move the lanes down.",
   {{{Key::page_up}}}, false, &kTrace, [](CommandScope& s) { s.view.scroll_px -= kStepScroll; }},
  {scroll_down, Menu::go, "Scroll down", "Move the lanes up.",
   {{{Key::page_down}}}, false, &kTrace, [](CommandScope& s) { s.view.scroll_px += kStepScroll; }},
  {focus, Menu::go, "Focus", "Zoom to the selected slice. Again, or without one: to the whole trace.",
   {{{Key::f}}}, false, &kTrace, [](CommandScope& s) { focus_or_fit(*s.document, s.view, s.window); }},
  {fit_all, Menu::go, "Whole trace", "Zoom out to the whole trace.",
   {{{Key::home}, {Key::digit_0}}}, false, &kTrace, [](CommandScope& s) { go_to(s.view, s.window, whole_view(s.view, s.document->trace)); }},
  {next_slice, Menu::go, "Next slice", "Select the next slice of the same lane and depth.",
   {{{Key::period}}}, false, &kSelection,
   [](CommandScope& s) { select_found(s, shown_next(*s.document, s.view.folds, s.view.selection), "this is the last of its row"); }},
  {previous_slice, Menu::go, "Previous slice", "Select the previous slice of the same lane and depth.",
   {{{Key::comma}}}, false, &kSelection,
   [](CommandScope& s) { select_found(s, shown_previous(*s.document, s.view.folds, s.view.selection), "this is the first of its row"); }},
  {parent_slice, Menu::go, "Parent", "Select the slice around the selected one. For GPU work: its launch call, then its operators and its step.",
   {{{Key::up}}}, false, &kSelection, go_up},
  {child_slice, Menu::go, "First child", "Go back down the way you came up. Otherwise select the first slice inside the selected one, or the work that it launched.",
   {{{Key::down}}}, false, &kSelection, go_down},
  {next_of_cycle, Menu::go, "Next of its kind", "Select the next slice of the row chosen in a table, of the search hits, or of the selected kernel's runs.",
   {{{Key::enter}, {Key::tab}}}, false, &kCycle, [](CommandScope& s) { walk_kind(s, 1); }},
  {previous_of_cycle, Menu::go, "Previous of its kind", "Select the previous slice of the row chosen in a table, of the search hits, or of the selected kernel's runs.",
   {{{Key::enter, kShift}, {Key::tab, kShift}}}, false, &kCycle, [](CommandScope& s) { walk_kind(s, -1); }},
  {list_found, Menu::go, "List them all", "List the search hits, or the slices of the row chosen in a table.",
   {{{Key::l, kShift}}}, false, &kCycle, list_what_was_found},
  {find, Menu::go, "Find", "Find slices by words of their names, /regular expressions/, dur>1ms, lane:stream, cat:kernel.",
   {{{Key::slash}, {Key::f, kCtrl}}}, false, &kTrace, find_slice},
  {next_hit, Menu::go, "Next hit", "Select the next search hit.",
   {{{Key::f3}}}, false, &kHits, [](CommandScope& s) { walk_hits(s, 1); }},
  {previous_hit, Menu::go, "Previous hit", "Select the previous search hit.",
   {{{Key::f3, kShift}}}, false, &kHits, [](CommandScope& s) { walk_hits(s, -1); }},
  {find_lane, Menu::go, "Find a lane", "Type some letters of a lane's title to scroll to it.",
   {{{Key::p, kCtrl}}}, false, &kTrace, [](CommandScope& s) { open_box(s, BoxKind::lanes); }},
  {go_to_time, Menu::go, "Go to a time", "Type a time, as in 12.5ms, to bring it to the middle.",
   {{{Key::g}}}, false, &kTrace, [](CommandScope& s) { open_box(s, BoxKind::time); }},
  {next_flow, Menu::go, "Next arrow", "Choose the next arrow of the selected slice.",
   {{{Key::right_bracket}}}, false, &kSelection, [](CommandScope& s) { choose_arrow(s, 1); }},
  {previous_flow, Menu::go, "Previous arrow", "Choose the previous arrow of the selected slice.",
   {{{Key::left_bracket}}}, false, &kSelection, [](CommandScope& s) { choose_arrow(s, -1); }},
  {follow_flow, Menu::go, "Follow arrow", "Go to the end of the chosen arrow, or of the first arrow that leaves the selected slice.",
   {{{Key::right_bracket, kCtrl}}}, false, &kSelection,
   [](CommandScope& s) { follow_arrow(s, true); }},
  {follow_flow_back, Menu::go, "Follow arrow back", "Go to the start of the chosen arrow, or of the first arrow to the selected slice.",
   {{{Key::left_bracket, kCtrl}}}, false, &kSelection,
   [](CommandScope& s) { follow_arrow(s, false); }},
  {back, Menu::go, "Back", "Go back to the previous view, and to the tab before a jump.",
   {{{Key::left, kAlt}}}, false, &kBack, [](CommandScope& s) { go_back(s, false); }},
  {forward, Menu::go, "Forward", "Go forward to the next view.",
   {{{Key::right, kAlt}}}, false, &kForward, [](CommandScope& s) { go_back(s, true); }},
  {other_trace, Menu::go, "The other trace", "With two traces, switch keys and panels to the other trace. A click on its timeline does the same.",
   {{{Key::x}}}, false, &kTwo, [](CommandScope& s) { s.window.compare.turn = true; }},
  {next_finding, Menu::go, "Next finding", "Go to the next finding.",
   {{{Key::n}}}, false, &kFindings, [](CommandScope& s) { go_to_next_finding(s, 1); }},
  {previous_finding, Menu::go, "Previous finding", "Go to the previous finding.",
   {{{Key::p}}}, false, &kFindings, [](CommandScope& s) { go_to_next_finding(s, -1); }},
  {largest_gap, Menu::go, "Largest gap", "Select the longest gap of the GPU, in the selected time or in the whole trace.",
   {{{Key::j}}}, false, &kGaps, go_to_largest_gap},
  {next_gap_of_cause, Menu::go, "Next gap of this cause", "Select the next shorter gap with the cause of the selected one. After the shortest: the longest again.",
   {{{Key::j, kShift}}}, false, &kGaps, go_to_next_gap},
  {slowest_kernel, Menu::go, "Slowest kernel", "Select the longest run of any kernel. Again: the longest run of the next kernel.",
   {{{Key::k, kShift}}}, false, &kKernels, go_to_slowest_kernel},
  {try_chosen_finding, Menu::go, "What if: remedy of the finding", "Replay the recording with the remedy of the chosen finding, in the tab What if.",
   {}, false, &kFindingToTry, [](CommandScope& s) { try_finding(s.view, s.window, s.view.finding.chosen); }},
  {show_tried_finding, Menu::go, "Show the replayed finding", "Show the finding whose remedy the tab What if replays.",
   {}, false, &kTriedFinding, [](CommandScope& s) { show_finding(*s.document, s.view, s.window, static_cast<std::uint32_t>(last_tried(s.view.what_if.changes))); }},
  {mark_slice, Menu::go, "Mark the slice", "Mark the selected slice's time on its lane.",
   {{{Key::r}}}, false, &kSelection, [](CommandScope& s) { mark_selection(s.document->trace, s.view); show_area_tab(s.window); }},
  {mark_all, Menu::go, "Mark all", "Mark the visible part of the selected slice's lane. Without a selection: the whole trace.",
   {{{Key::a, kCtrl}}}, false, &kTrace, [](CommandScope& s) { mark_everything(s.document->trace, s.view); show_area_tab(s.window); }},
  {mark, Menu::go, "Mark", "Mark the span of the selected slice or gap, or the selected time. Two marks show their distance. The same mark again removes them.",
   {{{Key::m}}}, false, &kSpanToMark, [](CommandScope& s) { toggle_mark(s.view.notes, *span_to_mark(s)); }},
  {keep_note, Menu::go, "Add a note", "Write a note at the selected slice or gap, the last mark or the selected time. Without any: at the pointer.",
   {{{Key::m, kShift}}}, false, &kTrace, [](CommandScope& s) { gapscope::add_note(s.view.notes, span_to_keep(s)); }},
  {add_flag, Menu::go, "Add a flag here", "Write a note at the time under the pointer, or in the middle of the view.",
   {{{Key::m, kCtrl}}}, false, &kTrace, [](CommandScope& s) { gapscope::add_note(s.view.notes, here(s)); }},
  {delete_note, Menu::go, "Delete the note", "Delete the last chosen note.",
   {{{Key::del}}}, false, &kNote, [](CommandScope& s) { remove_note(s.view.notes, static_cast<std::size_t>(s.view.notes.chosen)); }},
  {deselect, Menu::go, "Deselect", "Close the top window, or clear the selection.",
   {{{Key::escape}}}, false, &kSomething, leave_topmost},

  {palette, Menu::help, "All commands", "Type some letters of a command to run it.",
   {{{Key::p, kCtrl | kShift}}}, false, nullptr, [](CommandScope& s) { open_box(s, BoxKind::commands); }},
  {help, Menu::help, "Keys and mouse", "Show every command with its key, and what the mouse does.",
   {{{Key::question}, {Key::f1}}}, false, nullptr, [](CommandScope& s) { toggle_help(s.window, false); }},
  {guide, Menu::help, "Guide", "Read the guide: one page per subject, from the first steps to SQL.",
   {}, false, nullptr, [](CommandScope& s) { toggle_help(s.window, true); }},
  {tour, Menu::help, "First hints", "Show the five hints of the first run again.",
   {}, false, &kTrace, [](CommandScope& s) { s.window.settings.tour_seen = true; s.window.tour = {.open = true}; }},
});
// clang-format on

constexpr std::array kGroups = {copy_name,    record_program,  swap_traces, reload,       undo,        quit,         next_slice,
                                find,         next_flow,       back,        next_finding, largest_gap, mark_slice,   deselect,
                                collapse_all, toggle_findings, toggle_path, cycle_flows,  editor_page, zoom_text_in, guide};

// The tabs come before the first command about arrows.
std::vector<Command> with_tabs() {
  std::vector<Command> all(kCommands.begin(), kCommands.end());
  std::vector<Command> tabs;
  for (const Panel& panel : kPanels) {
    const std::size_t place = tabs.size();
    const Chord digit = place < 9 ? Chord{static_cast<Key>(static_cast<std::size_t>(Key::digit_1) + place), kAlt} : Chord{};
    tabs.push_back({static_cast<CommandId>(static_cast<std::size_t>(count_) + place),
                    Menu::tabs,
                    panel.title,
                    panel.tooltip,
                    {{digit}},
                    false,
                    &kTrace,
                    nullptr,
                    &panel});
  }
  const auto place = std::find_if(all.begin(), all.end(), [](const Command& c) { return c.id == cycle_flows; });
  all.insert(place, tabs.begin(), tabs.end());
  return all;
}

constexpr auto kMouseHelp = std::to_array<MouseHelp>({
    {"Wheel", "Scroll the lanes."},
    {"Ctrl + wheel", "Zoom about the pointer."},
    {"Shift + wheel", "Pan."},
    {"Shift + drag, middle drag", "Pan and scroll."},
    {"Drag over the lanes", "Mark an area: a time on some lanes. Its edges can be dragged; Alt disables snapping to slices."},
    {"Click a flag in the ruler", "Write its note, choose its colour, delete it."},
    {"Click", "Select a slice, fold a lane by its title, follow an arrow by its end; on empty space: deselect."},
    {"Double click", "Zoom to the slice."},
    {"Drag in the ruler", "Restrict the tables to that time. A click in the ruler removes the restriction."},
    {"Drag in the overview", "Move the visible window, or one of its edges."},
    {"Drop a file", "Open it. With Shift held: compare the open trace with it. Two files at once are compared."},
    {"Drag a lane's title", "Move the lane. A right click pins or hides it."},
    {"Drag the edge of a column or panel", "Change its size."},
});

constexpr std::array<const char*, kMenus.size()> kMenuTitles = {"File", "Export",     "View", "Lanes",
                                                                "Tabs", "Appearance", "Go",   "Help"};

}  // namespace

const char* menu_title(Menu menu) { return kMenuTitles[static_cast<std::size_t>(menu)]; }

std::string chord_text(const Chord& chord) {
  std::string text;
  if (chord.key == Key::none) return text;
  if (chord.mods & kCtrl) text += "Ctrl+";
  if (chord.mods & kAlt) text += "Alt+";
  if (chord.mods & kShift) text += "Shift+";
  return text.append(key_name(chord.key));
}

std::span<const Command> commands() {
  static const std::vector<Command> all = with_tabs();
  return all;
}

const Command& command(CommandId id) {
  for (const Command& c : commands()) {
    if (c.id == id) return c;
  }
  return kCommands.front();  // a test walks the enum and finds every id in the table
}

const Command* command_for(const Chord& chord) {
  for (const Command& c : commands()) {
    for (const Chord& own : c.chords) {
      if (own.key != Key::none && own == chord) return &c;
    }
  }
  return nullptr;
}

bool is_enabled(const Command& c, const CommandScope& scope) { return !c.need || c.need->is_there(scope); }

std::string_view why_disabled(const Command& c, const CommandScope& scope) {
  if (is_enabled(c, scope)) return {};
  return !scope.document && *c.need->how ? kTrace.how : c.need->how;
}

void run_command(CommandId id, CommandScope& scope, std::string_view what) {
  const Command& c = command(id);
  std::string_view why = why_disabled(c, scope);
  if (is_enabled(c, scope)) {
    scope.why_not = nullptr;
    c.panel ? show_panel(scope.window, c.panel->id) : c.run(scope);
    if (scope.why_not) why = scope.why_not;
  }
  scope.window.key_hint = why.empty() ? "" : std::string(what.empty() ? c.title : what) + ": " + std::string(why);
}

void run_press(const KeyPress& press, CommandScope& scope) {
  const Chord chord{press.key, press.mods};
  const Command* found = command_for(chord);
  if (!found) {
    if (!press.repeat) scope.window.key_hint = chord_text(chord) + ": no command has this key. ? lists all keys";
  } else if (found->while_held) {
    if (!is_enabled(*found, scope)) run_command(found->id, scope, chord_text(chord));
  } else {
    run_command(found->id, scope, chord_text(chord));
  }
}

std::string chords_text(const Command& c) {
  std::string text = chord_text(c.chords[0]);
  if (c.chords[1].key != Key::none) text += " or " + chord_text(c.chords[1]);
  return text;
}

bool begins_group(CommandId id) { return std::find(kGroups.begin(), kGroups.end(), id) != kGroups.end(); }

std::span<const MouseHelp> mouse_help() { return kMouseHelp; }

}  // namespace gapscope
