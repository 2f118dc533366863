#pragma once
// What the user changed: where the timeline stands, what is selected, folded, open. Plain data, the only thing a panel
// may change. Owned by AppUi. Sizes in px are at display scale 1. Hover is not in here: it is found anew each frame.
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
  bool seen = true;  // to its end, or dismissed; the settings of a first run say that it was not
  bool open = false;
  std::size_t hint = 0;
};

struct PanelSizes {
  float titles_px = 220;    // column of lane titles
  float bottom_px = 260;    // area of the tabs below the lanes
  float findings_px = 340;  // panel at the right
  bool bottom_open = true;
  bool bottom_full = false;  // it takes all of the height
};

// Fields of the start screen and of the folder it shows.
struct StartFields {
  // What was asked for of a folder that is still being listed.
  enum class Awaits : std::uint8_t { nothing, completion, entry };

  std::string path;           // what is typed
  std::string base;           // the folder, with its slash, that a path without one begins in; empty: the working directory
  std::string asked_folder;   // of the last ListFolder
  bool asked = false;         // whether there was one
  bool as_second = false;     // what is chosen is compared with the open trace, and does not replace it
  bool holds_keys = false;    // the field has the keyboard for as long as the page is there
  bool has_keys = false;      // it has it now; written by the page
  bool caret_to_end = false;  // where it takes them
  bool replaced = false;      // `path` was changed by other means than typing, and the field is to take it over
  Awaits awaits = Awaits::nothing;
};

// Which findings the user wants to see, of any trace.
struct FindingsState {
  bool open = true;                // the panel at the right
  bool quiet = false;              // informational ones are hidden
  bool explain = false;            // all of them are listed, with the notes that teach to read the trace
  std::vector<std::string> muted;  // rule ids; kept in the settings
};

// The finding that the user chose.
struct FindingState {
  std::int32_t chosen = -1;       // position in Diagnosis::findings
  std::size_t place = 0;          // position in its spans
  bool scroll_to_chosen = false;  // set when a key chose it: the panel brings it into view and clears this
};

// What the user changed about one trace.
struct TraceView {
  TimeView time;
  ViewMove move;
  double scroll_px = 0;  // of the lanes, from the top, at scale 1
  SliceId selection;
  std::optional<Span> range;      // the stretch of time that tables are restricted to; dragged in the ruler or an area's
  SliceCycle cycle;               // what Enter and Shift+Enter walk through
  LaneId reveal_lane;             // set by panels: the timeline scrolls to this lane and clears it
  bool reveal_selection = false;  // set by panels: the timeline brings the selection into view and clears it
  SliceId reveal_with;            // set with it: stays in sight, too, where both fit; cleared with it
  std::vector<SliceId> way_up;    // the slices that "Parent" came from, the way that "First child" goes back
  LaneFolds folds;
  FlowsState flows;
  ViewHistory history;
  EditHistory edits;
  std::optional<LinkedAxis> linked;  // while another trace lies next to this one
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
};

// What the user changed about one or two traces, and the window's own choices.
struct ViewState {
  std::vector<std::string> source_paths;  // EditorSettings::paths, as the settings have them
  std::array<TraceView, 2> traces;        // by TraceSide; the second is shown while comparing
  TraceSide active_side = TraceSide::a;   // keys and panels are about that trace
  TraceView& of(TraceSide side) { return traces[static_cast<std::size_t>(side)]; }
  const TraceView& of(TraceSide side) const { return traces[static_cast<std::size_t>(side)]; }
  TraceView& active() { return of(active_side); }
  const TraceView& active() const { return of(active_side); }

  FindingsState findings;
  PanelSizes sizes;
  std::size_t tab = 0;           // position in the panel table of the open tab
  bool select_tab = false;       // the tab bar should switch to `tab`
  bool overview_wanted = false;  // it was asked for: it is shown where there is little room, too
  std::string message_seen;      // the news of the last frame, and for how long
  double message_s = 0;
  std::optional<ViewLink> link;  // pasted; shown as soon as its file is open
  bool tab_pinned = false;       // `tab` stays in front whatever is selected
  std::uint32_t selections = 0;  // how often a slice was selected, be it the same one: the details come up for each
  ThemeName theme = ThemeName::dark;
  Palette slice_colours = Palette::usual;
  float zoom = 1;  // of everything in the window, on top of the display's scale
  bool animate = true;
  TourState tour;
  bool help_open = false;
  bool start_open = false;  // the start screen over an open document
  float scale = 1;          // display scale; written by AppUi at the start of each frame
  double frame_ms = 0;      // CPU time of the last frame; written by AppUi
  std::string help_filter;
  StartFields start;
  std::string key_hint;  // why the last key did nothing; until the next key or click
  BoxState box;
  CompareState compare;
  SqlState sql;
  RanksState ranks;
};

// How far the axis goes, and where its ruler counts from.
inline Span axis_reach(const TraceView& view, Span trace) {
  return view.linked ? view.linked->reach : view.run_reach.value_or(trace);
}
inline Ns axis_zero(const TraceView& view, Span trace) { return view.linked ? view.linked->zero : trace.begin; }

// Selects a slice and asks the timeline to bring it into view; none deselects.
inline void select_slice(ViewState& view, SliceId slice, bool reveal) {
  TraceView& of = view.active();
  of.selection = slice;
  of.reveal_selection = reveal && slice.valid();
  of.reveal_with = {};
  of.way_up.clear();
  if (slice.valid()) ++view.selections;
}

// Where the timeline stands, for the history.
inline ViewPlace place_of(const TraceView& view) { return {view.time.span, view.scroll_px}; }

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

// Forgets what only means something in the document that was open.
inline void forget_document(TraceView& view) {
  view.edits = {};
  view.range.reset();
  view.run_reach.reset();
  view.flows = {view.flows.show, {}, {}, {}, 0, 0, 0, 0};
  view.cycle = {};
  view.details = {};
  const TableState last = std::move(view.table);
  view.table = {};
  view.table.question.mode = last.question.mode;
  view.table.look.order = last.look.order;
  view.table.look.toggled = last.look.toggled;
  const TableLook kernels = std::move(view.kernels.look);
  view.kernels = {};
  view.kernels.look.order = kernels.order;
  view.kernels.look.toggled = kernels.toggled;
  view.gaps = {};
  const CompileList compiled = view.compile.list;
  view.compile = {};
  view.compile.list = compiled;
  view.modules = {view.modules.list, {{}, view.modules.look.order, view.modules.look.toggled}, -1, {}};
  view.steps = {};
  forget_area(view.area, view.flame);
  view.search = {};
  view.list = {};
  view.notes = {};
  view.finding.chosen = -1;
  view.finding.place = 0;
  view.memory.device = 0;
  view.memory.chosen.reset();
  view.roofline.module.clear();
  view.what_if.changes = {};
}

// The same of the active trace, and closes the box of commands.
inline void forget_document(ViewState& view) {
  forget_document(view.active());
  view.box = {};
}

// Selects the next of `cycle` after the current selection, and makes it what Enter walks through.
inline void walk_cycle(ViewState& view, SliceCycle cycle) {
  view.active().cycle = std::move(cycle);
  select_slice(view, view.active().cycle.next(view.active().selection), /*reveal=*/true);
}

}  // namespace gapscope
