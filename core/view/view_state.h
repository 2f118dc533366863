#pragma once
// What the user changed: where the timeline is, what is selected, folded, open. Plain data, the only thing a panel
// may change. Owned by AppUi. Sizes in px are at display scale 1. Hover is not in here: it is found anew each frame.
//
// What is about one trace takes its TraceView, what is about the window takes the WindowState, what is about both takes both.
// ViewState has all of it: for what holds two traces against each other, and where a frame begins, which finds out once which
// of the traces keys and panels are about.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/view/compare/compare_state.h"
#include "core/view/compile/compile_state.h"
#include "core/view/details/details_model.h"
#include "core/view/edit_history.h"
#include "core/view/gpu/gaps_model.h"
#include "core/view/kernels/kernels_model.h"
#include "core/view/link.h"
#include "core/view/memory/memory_state.h"
#include "core/view/modules/modules_model.h"
#include "core/view/notes/notes_model.h"
#include "core/view/ranks/ranks_state.h"
#include "core/view/roofline/roofline_state.h"
#include "core/view/search/result_list.h"
#include "core/view/search/search_state.h"
#include "core/view/selection/area_state.h"
#include "core/view/sql/sql_model.h"
#include "core/view/steps/steps_model.h"
#include "core/view/table/table_look.h"
#include "core/view/table/table_model.h"
#include "core/view/timeline/flow_state.h"
#include "core/view/timeline/lane_folds.h"
#include "core/view/timeline/linked_axis.h"
#include "core/view/timeline/slice_colour.h"
#include "core/view/timeline/slice_cycle.h"
#include "core/view/view_history.h"
#include "core/view/whatif/whatif_state.h"

namespace gapscope {

// The horizontal axis: `span` is what is visible; the remainders (each in [-0.5, 0.5] ns) keep what rounding to integer
// nanoseconds would lose, so that slow pans and zooms do not stall. Changed only by the functions of time_view.h.
struct TimeView {
  Span span{0, 1};
  double begin_rest_ns = 0;
  double end_rest_ns = 0;
};

// An eased move of the axis that is under way; `from` and `to` are the ends of it.
struct ViewMove {
  TimeView from;
  TimeView to;
  double elapsed_s = 0;
  bool active = false;
};

enum class ThemeName : std::uint8_t { dark, light };

// The hints that a first run shows one by one.
struct TourState {
  bool open = false;
  bool due = false;  // it opens with the first click or key: the first picture is the answer's
  std::size_t hint = 0;
};

struct PanelSizes {
  float titles_px = 220;    // column of lane titles
  float bottom_px = 0;      // area of the tabs below the lanes; 0: a share of the window (ui/app_ui.cpp)
  float findings_px = 340;  // panel at the right
  bool bottom_open = true;
};

// Fields of the start screen and of the folder it shows.
struct StartFields {
  // What was asked for of a folder that is still being listed.
  enum class Awaits : std::uint8_t { nothing, completion, entry, traces };  // traces: to open it, where it holds some

  std::string path;           // what is typed
  std::string base;           // the folder, with its slash, that a path without one begins in; empty: the working directory
  std::string asked_folder;   // of the last ListFolder
  bool asked = false;         // whether there was one
  bool as_second = false;     // what is chosen is compared with the open trace, and does not replace it
  bool holds_keys = false;    // the field has the keyboard for as long as the page is there
  bool has_keys = false;      // it has it now; written by the page
  bool caret_to_end = false;  // where it takes them
  bool replaced = false;      // `path` was changed by other means than typing, and the field is to take it over
  enum class Order : std::uint8_t { name, step, gpu };  // step: the longest first; gpu: the least busy first
  Order order = Order::name;                            // of the files in the list
  Awaits awaits = Awaits::nothing;
};

// Which findings the user wants to see, of any trace.
struct FindingsState {
  bool open = true;                // the panel at the right
  bool quiet = false;              // informational ones are hidden
  bool explain = false;            // all of them are listed, with the notes that teach to read the trace
  std::vector<std::string> muted;  // rule ids; saved in the settings
};

// The finding that the user chose.
struct FindingState {
  std::int32_t chosen = -1;  // position in Diagnosis::findings
  std::size_t place = 0;     // position in its spans
  // Chosen before in the list, and still open there: what is below them stays where it is. Without `chosen`.
  std::vector<std::uint32_t> left_open = {};
};

// What keys and panels want to be seen: the part that draws it brings it into view, and clears the wish.
struct TraceSignals {
  LaneId reveal_lane;             // by the timeline
  bool reveal_selection = false;  // likewise
  SliceId reveal_with;            // set with it: stays in sight, too, where both fit
  bool reveal_finding = false;    // the chosen one, by the panel of findings
};

// What the user changed about one trace.
struct TraceView {
  TimeView time;
  ViewMove move;
  double scroll_px = 0;  // of the lanes, from the top, at scale 1
  SliceId selection;
  std::optional<Span> range;    // the stretch of time that tables are restricted to; dragged in the ruler or an area's
  SliceCycle cycle;             // what Enter and Shift+Enter walk through
  std::vector<SliceId> way_up;  // the slices that "Parent" came from, the way that "First child" goes back
  TraceSignals signals;
  std::uint32_t selections = 0;  // how often a slice was selected, be it the same one: the details come up for each
  LaneFolds folds;
  FlowsState flows;
  ViewHistory history;
  EditHistory edits;
  std::optional<LinkedAxis> linked;  // while another trace is next to this one
  std::optional<Span> run_reach;     // of all ranks of the run that it is one of, in its own time, once these are known
  DetailsModel details;              // what the details panel shows, made once a selection; of no slice: to be made anew
  TableState table;
  KernelsState kernels;
  GapsState gaps;
  ModulesState modules;
  CompileState compile;
  FindingState finding;
  StepsState steps;
  AreaState area;
  FlameState flame;
  SearchState search;
  NotesState notes;
  ListState list;
  MemoryState memory;
  TableLook counters;
  RooflineState roofline;
  WhatIfState what_if;
  std::string step_time;  // being typed: StateStepTime
};

// How the user likes the window, whatever is open. The settings keep it (core/view/preferences.h; rules and folders of sources
// by requests of their own), all but which findings are listed.
struct WindowSettings {
  ThemeName theme = ThemeName::dark;
  Palette slice_colours = Palette::usual;
  float zoom = 1;  // of everything in the window, on top of the display's scale
  bool animate = true;
  bool tour_seen = true;  // to its end, or dismissed; the settings of a first run say that it was not
  PanelSizes sizes;
  FindingsState findings;
  std::vector<std::string> source_paths;  // EditorSettings::paths
  bool asks_for_sources = true;           // EditorSettings::asks
};

// Of the frame that is drawn; written by AppUi when it begins.
struct WindowFrame {
  float scale = 1;       // of the display
  double cpu_ms = 0;     // of the frame before
  double elapsed_s = 0;  // since the frame before, however long that was
};

// Set in one frame for the next, which clears it.
struct WindowSignals {
  bool select_tab = false;  // the tab bar should switch to WindowState::tab
};

// The window's own: what it shows as long as it runs, whichever traces are open.
struct WindowState {
  WindowSettings settings;
  WindowFrame frame;
  WindowSignals signals;
  std::size_t tab = 0;                 // position in the panel table of the open tab
  bool tab_pinned = false;             // `tab` stays in front whatever is selected
  bool bottom_full = false;            // the tabs take all of the height
  std::vector<std::size_t> tabs_used;  // opened from "More...", the oldest first: they stay in the row of tabs
  bool tab_wanted = false;             // it was asked for: it is shown where there is little room, too
  bool start_open = false;             // the start screen over an open document
  bool help_open = false;
  std::string help_page;  // of the guide, GuidePage::name; empty: keys and mouse
  std::string help_filter;
  TourState tour;
  std::string news_seen;  // the news of the last frame, and for how long
  double news_s = 0;
  std::string key_hint;          // why the last key did nothing; until the next key or click
  std::optional<ViewLink> link;  // pasted; shown as soon as its file is open
  StartFields start;
  BoxState box;
  CompareState compare;
  SqlState sql;
  RanksState ranks;
};

struct ViewState {
  WindowState window;
  std::array<TraceView, 2> traces;  // by TraceSide; the second is shown while comparing
  TraceView& of(TraceSide side) { return traces[static_cast<std::size_t>(side)]; }
  const TraceView& of(TraceSide side) const { return traces[static_cast<std::size_t>(side)]; }
  TraceView& active() { return of(window.compare.side); }
  const TraceView& active() const { return of(window.compare.side); }
};

// How far the axis goes, and where its ruler counts from.
inline Span axis_reach(const TraceView& view, Span trace) {
  return view.linked ? view.linked->reach : view.run_reach.value_or(trace);
}
inline Ns axis_zero(const TraceView& view, Span trace) { return view.linked ? view.linked->zero : trace.begin; }

// Selects a slice and asks the timeline to bring it into view; none deselects.
inline void select_slice(TraceView& view, SliceId slice, bool reveal) {
  view.selection = slice;
  view.signals.reveal_selection = reveal && slice.valid();
  view.signals.reveal_with = {};
  view.way_up.clear();
  if (slice.valid()) ++view.selections;
}

// Where the timeline is, for the history.
inline ViewPlace place_of(const TraceView& view) { return {view.time.span, view.scroll_px, {}, view.selection}; }

// What undo takes back, as it is and as it was.
inline Edits edits_of(const TraceView& view) {
  return {view.notes.notes,       view.notes.marks,         view.range,          view.folds,
          view.table.look.filter, view.kernels.look.filter, view.what_if.changes};
}
inline void take_edits(TraceView& view, const Edits& edits) {
  const std::uint64_t revision = view.folds.revision + 1;
  view.notes.notes = edits.notes;
  view.notes.marks = edits.marks;
  view.notes.chosen = -1;
  view.range = edits.range;
  view.folds = edits.folds;
  view.folds.revision = revision;
  view.table.look.filter = edits.table_filter;
  view.kernels.look.filter = edits.kernels_filter;
  view.what_if.changes = edits.what_if;
}

// How it looks at another document: what means something in any, and everything else as it is at first.
TraceView view_of_next(const TraceView& last);

// Selects the next of `cycle` after the current selection, and makes it what Enter walks through.
inline void walk_cycle(TraceView& view, SliceCycle cycle) {
  view.cycle = std::move(cycle);
  select_slice(view, view.cycle.next(view.selection), /*reveal=*/true);
}

}  // namespace gapscope
