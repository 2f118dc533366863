#pragma once
// The timeline: overview, ruler, lane titles and lanes. Holds what is worth keeping between frames (layout, colours,
// chain, overview) and draws one frame from the document and the view state.
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "core/view/search/hit_columns.h"
#include "core/view/timeline/lane_drag.h"
#include "core/view/timeline/overview.h"
#include "ui/timeline/area_drag.h"
#include "ui/timeline/lane_menu.h"
#include "ui/timeline/timeline_input.h"
#include "ui/timeline/timeline_scene.h"

namespace gapscope {

constexpr float kTimelineOverview = 48;  // px at scale 1 of their height
constexpr float kTimelineRuler = 26;
constexpr float kTimelineFlags = 20;
// Of the ruler, with a row for the flags of notes where there are some: over the digits they would hide them.
constexpr float ruler_height(bool has_notes) { return kTimelineRuler + (has_notes ? kTimelineFlags : 0); }

// Where a timeline is, its column of titles included. Usually the parts touch; of two that are compared only one has the
// overview and the ruler, and the GPUs of both come before the rest of either.
struct TimelinePlace {
  Box overview;  // none: empty
  Box ruler;
  Box top;                    // of the lanes; all of them, unless there is a `rest`
  std::optional<Box> rest;    // the lanes below the GPUs
  bool shares_ruler = false;  // another panel draws it
};

class TimelinePanel;

// The other of two traces on one axis, whose GPU the overview shows below its own.
struct OverviewBelow {
  TimelinePanel& timeline;
  const Document& document;
  std::shared_ptr<const SearchAnswer> found;
  Ns way = 0;  // from this trace's time to that one's
};

class TimelinePanel {
 public:
  static constexpr float kLeastTitles = 90;  // px at scale 1

  // Another document: forgets everything cached. Null when nothing is open.
  void adopt(const Document* document, TraceView& view);

  // A larger document of the same file: keeps what is visible where it is.
  void grow(const Document& from, const Document& to, TraceView& view, const WindowState& window);

  // Draws into the current ImGui window, over `box`.
  void draw(const Document& document, TraceView& view, WindowState& window, const Box& box, const TimelineKeys& keys,
            double delta_s);
  // The same in two parts, for two timelines on one axis: what keys and mouse do, then what is seen.
  void move(const Document& document, TraceView& view, WindowState& window, const TimelinePlace& place,
            const TimelineKeys& keys, double delta_s);
  void paint(const Document& document, TraceView& view, WindowState& window, double elapsed_s,
             const OverviewBelow* below = nullptr);
  // The menu behind a right click, while it is open.
  void draw_menu(const Document& document, TraceView& view, WindowState& window, Requests& out) {
    lane_menu_.draw(document, view, window, out);
  }

  // Px of the display that the lanes need: those that stay in sight, the same as low as they get, and all others. With the
  // counters of those GPUs `top` is `whole`.
  struct Heights {
    float top = 0, least_top = 0, whole = 0, rest = 0;
  };
  Heights measure(const Document& document, TraceView& view, const WindowState& window);

  // Scrolls up or down until the selection is in sight; its lane is opened. The time stays.
  void scroll_to_selection(const Document& document, TraceView& view, const WindowState& window);

  // Px that show the overview, the ruler with its flags where there are notes, and all of the GPUs that come first, as low as
  // they get; of the last layout.
  float least_height(bool has_notes) const {
    return std::round((kTimelineOverview + ruler_height(has_notes)) * layout_scale_) + least_gpus_;
  }

  // Ends what is left of a glide: another timeline moves the axis now.
  void rest() { motion_.stop(); }

  // A held key or its glide moves the view: the next frame is due at once.
  bool moving() const { return motion_.moving(); }

  // Of the last frame, for tests.
  const TimelineAreas& areas() const { return areas_; }
  const std::vector<SliceRect>& rects() const { return rects_; }
  const Zones& zones() const { return zones_; }
  const LaneLayout& layout() const { return layout_; }
  const LaneWindow& window() const { return window_; }
  // Calls see(band, box of the lanes it shows in) for all that may show.
  template <class See>
  void each_band_in_sight(See see) const {
    for (const Region& region : regions_)
      for (std::size_t i = region.first; i < region.last; ++i) see(layout_.bands()[i], region.lanes);
  }
  AreaPlace area_place() const;

 private:
  enum class OverviewGrip : unsigned char { none, window, begin, end };

  struct TopEdge {
    bool held = false;
    Band band;
  };

  void forget();
  TopEdge top_edge(const TraceView& view, const WindowState& window) const;
  void hold(const TopEdge& edge, const Trace& from, const Trace& to, TraceView& view, const WindowState& window) const;
  void take_counters(const Document& document, TraceView& view);
  void lay_out(const Document& document, TraceView& view, const WindowState& window);
  void reveal(const Document& document, TraceView& view, const WindowState& window);
  void scroll_to(const Document& document, TraceView& view, const WindowState& window, SliceId slice);
  void show_lane(const Document& document, TraceView& view, const WindowState& window);
  std::optional<AreaStrip> strip_in_mind(const Document& document, const TraceView& view, const WindowState& window,
                                         float pinned) const;
  void keep_in_sight(const Document& document, TraceView& view, const WindowState& window, const AreaStrip& before);
  void clamp_scroll(TraceView& view, const WindowState& window);
  float rest_height() const;
  void move_by_mouse(const Document& document, TraceView& view, WindowState& window, const TimelineKeys& keys, double delta_s);
  void drag_range(TraceView& view, WindowState& window, bool active);
  void drag_area(TraceView& view, WindowState& window, bool active);
  void title_splitter(WindowState& window);
  void overview(const Document& document, const TraceView& view, const WindowState& window, Painter& painter,
                const OverviewBelow* below);
  void overview_drag(const Document& document, TraceView& view, const WindowState& window);
  void overview_grab(const Document& document, TraceView& view, const WindowState& window);
  // A part of the lanes that scrolls, or stays, as one: its bands and what they show.
  struct Region {
    Box lanes, titles;
    std::size_t first = 0, last = 0;  // bands
    std::size_t first_rect = 0, last_rect = 0;
  };
  std::size_t sticky_count() const;
  float sticky_height() const;
  bool is_sticky(const Band& band) const;
  void lay_regions(const TraceView& view, const WindowState& window);
  void paint_lanes(const Document& document, const PixelGrid& grid);
  void paint_band(const Document& document, const PixelGrid& grid, const Band& band);
  void paint_strip(const Document& document, const PixelGrid& grid, const RowSlices& row, const LaneLayout::Strip& strip);
  template <class Draw>
  void each_region(TimelineScene& scene, Draw draw);
  bool has_room() const { return areas_.lanes.height() >= 1 && areas_.lanes.width() >= 1; }
  void draw_lanes(TimelineScene& scene);
  void draw_marks(TimelineScene& scene);
  void drag_lane(const Document& document, TraceView& view, const WindowState& window, bool active);
  void draw_lane_drop(TimelineScene& scene);
  Zone draw_overlays(TimelineScene& scene);
  void click(const Document& document, TraceView& view, WindowState& window, const Zone& zone);
  void act_on_mouse(const Document& document, TraceView& view, WindowState& window, const Zone& zone);

  TimelineMotion motion_;
  SceneCaches caches_;
  BusyStrips overview_;
  HitColumns hit_columns_;  // of the overview
  LaneLayout layout_;
  const std::vector<CounterLane>* counters_ = nullptr;  // those in the layout
  const Arrangements* arrangements_ = nullptr;
  std::uint64_t layout_revision_ = 0;
  float layout_scale_ = 0;
  float laid_room_ = 0;  // px for the top of the lanes, that the layout was made for
  Heights heights_;
  float least_gpus_ = 0;  // Heights::least_top, until there is another layout
  GlyphWidths widths_;
  float widths_size_ = 0;
  Chain chain_;
  TimelinePlace place_;
  TimelineAreas areas_;
  ReplayRows replay_;
  LaneWindow window_;
  double top_scroll_px_ = 0;       // at scale 1; above 0 only where the top has more lanes than room
  std::array<Region, 2> regions_;  // what scrolls, then what is pinned
  LaneDrag lane_drag_;
  LaneMenu lane_menu_;
  std::vector<SliceRect> rects_;
  std::vector<VisibleItem> scratch_;
  std::vector<InstantMark> marks_;
  Zones zones_;
  LaneFindings findings_;
  bool hovered_ = false;  // the pointer is over the lanes, titles or ruler
  bool clicked_ = false;  // pressed and released in place
  bool double_clicked_ = false;
  bool zoomed_by_press_ = false;       // what is under the pointer when it is let go is not what was clicked
  std::optional<Span> dragged_range_;  // while a range is being dragged in the ruler
  AreaDrag area_drag_;
  std::vector<std::size_t> offered_notes_;  // of the flag that was clicked last
  OverviewGrip grip_ = OverviewGrip::none;
};

}  // namespace gapscope
