#pragma once
// What the painters of one frame share: where things are, what is drawn, what is under the pointer.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/view/details/chain.h"
#include "core/view/timeline/badge_paint.h"
#include "core/view/timeline/counter_columns.h"
#include "core/view/timeline/flow_paint.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/idle_sums.h"
#include "core/view/timeline/lane_layout.h"
#include "core/view/timeline/lane_paint.h"
#include "core/view/timeline/row_busy.h"
#include "core/view/timeline/slice_colour.h"
#include "core/view/timeline/slice_label.h"
#include "core/view/timeline/time_view.h"
#include "core/view/timeline/zones.h"
#include "core/view/view_state.h"
#include "ui/timeline/lane_window.h"
#include "ui/timeline/painter.h"
#include "ui/timeline/replay_rows.h"

namespace gapscope {

struct Document;

// From top to bottom; all of the timeline's width is titles and, right of them, the axis.
struct TimelineAreas {
  Box overview;  // axis part
  Box overview_titles;
  Box ruler;
  Box ruler_titles;
  Box replay;  // rows of the critical path and of replayed GPUs; empty where none is shown
  Box replay_titles;
  Box lanes;  // all that is between the top of the first lane and the bottom of the last; see LaneWindow for its parts
  Box titles;
  Box digits;  // of the ruler; below it the flags of notes, where there are some
};

// What the gaps of a device are labelled with, by device and position.
struct GapWords {
  std::vector<std::string> texts;  // gap_texts()
  std::vector<GapPart> parts;
};
using GapLabels = std::map<std::pair<std::int32_t, std::size_t>, GapWords>;
// By device.
using DeviceIdleSums = std::map<std::int32_t, IdleSums>;
// By where a row's slices begin in memory.
using RowsBusy = std::map<const Ns*, RowBusy>;

// What is worth working out once for many frames of one document.
struct SceneCaches {
  std::unique_ptr<SliceColours> colours;  // there while a document is
  SceneArrows arrows;
  GapLabels gap_labels;
  DeviceIdleSums idle_sums;
  RowsBusy rows_busy;
  CounterColumns counter_columns;
  PathShares recorded_path, replayed_path;
};

struct TimelineScene {
  const Document& document;
  TraceView& view;
  WindowState& window;
  const Theme& theme;
  Painter& painter;
  TimelineAreas areas;
  const LaneLayout& layout;
  PixelGrid grid;
  LaneWindow lane_window;
  const GlyphWidths& widths;  // of slice labels
  const Chain& chain;
  std::span<const SliceRect> rects;  // y from the top of the lanes
  Zones& zones;
  const LaneFindings& findings;
  SceneCaches& caches;
  ReplayRows replay;
  ImVec2 pointer{};
  bool pointer_inside = false;                // over the timeline, nothing in front of it
  std::optional<Span> range;                  // selected, or being dragged
  const Area* area = nullptr;                 // marked, or being dragged
  std::size_t first_band = 0, last_band = 0;  // of the region that is drawn

  // From lane coordinates to the window's.
  float window_y(float y) const { return lane_window.window_y(y); }
  float window_x(int column) const { return areas.lanes.x0 + static_cast<float>(column); }
};

// A line at `x` through all of the lanes.
void draw_through(TimelineScene& scene, float x, ImU32 ink);

// Each draws its part and adds its zones.
void draw_bands(TimelineScene& scene);
void draw_counters(TimelineScene& scene);
// Under the rows of the GPU's streams, as strips in the colours of their causes, with labels in the empty rows.
void draw_gaps(TimelineScene& scene);
// Over the slices: a row of kernels narrower than a pixel would look busy all the time. Each such column is as full as the
// stream was busy in it.
void draw_busy_shares(TimelineScene& scene);
// The chosen gap, and the slices that the host was in meanwhile.
void draw_chosen_gap(TimelineScene& scene);
void draw_slices(TimelineScene& scene);
void draw_instants(TimelineScene& scene, const std::vector<InstantMark>& marks, const Band& band);
// Hatches the gaps of findings about `lane`, which `band` shows, and puts their badges above the slices.
void draw_badges(TimelineScene& scene, const Band& band, LaneId lane);
void draw_outlines(TimelineScene& scene, const Zone& hovered);
void outline_slice(TimelineScene& scene, SliceId slice, ImU32 ink, float thickness);
void draw_flows(TimelineScene& scene);
void draw_titles(TimelineScene& scene);
// Its lines behind the lanes.
void draw_ruler_lines(TimelineScene& scene);
// The ruler itself.
void draw_ruler(TimelineScene& scene);
void draw_guide(TimelineScene& scene);
// Where the ruler says the time at the pointer, and that time; empty where the pointer is elsewhere.
struct GuidePill {
  Box box;
  std::string text;
};
GuidePill guide_pill(const TimelineScene& scene);
// Marks and notes in the ruler and through the lanes. A click on a flag opens its note; of a flag of several they are
// `offered`.
void draw_notes(TimelineScene& scene, bool clicked, std::vector<std::size_t>& offered);
// The fields of the chosen note, alongside its flag.
void draw_note_editor(TimelineScene& scene);
Rgb note_colour(const Note& note);
// A shape for each severity, about `size` px of the display high.
void draw_severity(Painter& painter, ImVec2 centre, float size, Severity severity, const Theme& theme);
Rgb severity_colour(Severity severity, const Theme& theme);
// The selected range in the ruler; what is outside of it is dimmed, unless an area shows what is meant.
void draw_range(TimelineScene& scene);
// How long `span` is, at the top of the part of the lanes where it is.
void draw_length(TimelineScene& scene, const Box& seen, Span span);
// The marked area.
struct AreaPlace;
void draw_area(TimelineScene& scene, const AreaPlace& place);
// How far the lanes are scrolled, where not all of them fit.
void draw_scroll_mark(TimelineScene& scene);
void draw_timeline_tooltip(const TimelineScene& scene, const Zone& hovered);

}  // namespace gapscope
