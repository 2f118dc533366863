#pragma once
// The timeline: overview, ruler, lane titles and lanes. Holds what is worth keeping between frames (layout, colours,
// chain, overview) and draws one frame from the document and the view state.
#include <array>
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

class TimelinePanel {
 public:
  static constexpr float kLeastTitles = 90;  // px at scale 1

  // Another document: forgets everything kept. Null when nothing is open.
  void adopt(const Document* document, ViewState& view);

  // A larger document of the same file: keeps what is visible where it is.
  void grow(const Document& from, const Document& to, ViewState& view);

  // Draws into the current ImGui window, over `box`.
  void draw(const Document& document, ViewState& view, const Box& box, const TimelineKeys& keys, double delta_s,
            bool with_overview = true);

  // Scrolls up or down until the selection is in sight; its lane is opened. The time stays.
  void scroll_to_selection(const Document& document, ViewState& view);

  // Px that show the ruler and all of the GPUs that come first, as low as they get; of the last layout.
  float least_height() const { return least_height_; }

  // Ends what is left of a glide: another timeline moves the axis now.
  void rest() { motion_.stop(); }

  // A held key or its glide moves the view: the next frame is due at once.
  bool moving() const { return motion_.moving(); }

  // Of the last frame, for tests.
  const TimelineAreas& areas() const { return areas_; }
  const std::vector<SliceRect>& rects() const { return rects_; }
  const Zones& zones() const { return zones_; }
  const LaneLayout& layout() const { return layout_; }
  // Calls see(band, box of the lanes it shows in, px of the display that it is scrolled by) for all that may show.
  template <class See>
  void each_band_in_sight(See see) const {
    for (const Region& region : regions_)
      for (std::size_t i = region.first; i < region.last; ++i) see(layout_.bands()[i], region.lanes, region.scroll);
  }
  AreaPlace area_place(const Document& document) const;

 private:
  enum class OverviewGrip : unsigned char { none, window, begin, end };

  struct TopEdge {
    bool held = false;
    Band band;
  };

  void forget();
  TopEdge top_edge(const ViewState& view) const;
  void hold(const TopEdge& edge, const Trace& from, const Trace& to, ViewState& view) const;
  void take_counters(const Document& document, ViewState& view);
  void lay_out(const Document& document, ViewState& view);
  void reveal(const Document& document, ViewState& view);
  void scroll_to(const Document& document, ViewState& view, SliceId slice);
  void show_lane(const Document& document, ViewState& view);
  void clamp_scroll(ViewState& view) const;
  void move_by_mouse(const Document& document, ViewState& view, const TimelineKeys& keys, double delta_s);
  void drag_range(ViewState& view, bool active);
  void drag_area(const Document& document, ViewState& view, bool active);
  void title_splitter(ViewState& view);
  void overview(const Document& document, ViewState& view, Painter& painter);
  void overview_drag(const Document& document, ViewState& view);
  void overview_grab(const Document& document, ViewState& view);
  // A part of the lanes that scrolls, or stays, as one: its bands and what they show.
  struct Region {
    Box lanes, titles;
    std::size_t first = 0, last = 0;  // bands
    std::size_t first_rect = 0, last_rect = 0;
    float scroll = 0;  // px of the display
  };
  std::size_t sticky_count() const;
  float sticky_height() const;
  bool is_sticky(const Band& band) const;
  void lay_regions(const ViewState& view);
  void paint(const Document& document, const PixelGrid& grid);
  void paint_band(const Document& document, const PixelGrid& grid, const Band& band);
  void paint_strip(const Document& document, const PixelGrid& grid, const Band& band, const RowSlices& row, const LaneLayout::Strip& strip);
  template <class Draw>
  void each_region(TimelineScene& scene, Draw draw);
  void draw_lanes(TimelineScene& scene);
  void draw_marks(TimelineScene& scene);
  void drag_lane(const Document& document, ViewState& view, bool active);
  float layout_y(float window_y) const;
  void draw_lane_drop(TimelineScene& scene);
  Zone draw_overlays(TimelineScene& scene);
  void click(const Document& document, ViewState& view, const Zone& zone);
  void act_on_mouse(const Document& document, ViewState& view, const Zone& zone);

  TimelineMotion motion_;
  std::unique_ptr<SliceColours> colours_;
  Overview overview_;
  HitColumns hit_columns_;  // of the overview
  LaneLayout layout_;
  const std::vector<CounterLane>* counters_ = nullptr;  // those in the layout
  const Arrangements* arrangements_ = nullptr;
  std::uint64_t layout_revision_ = 0;
  float layout_scale_ = 0;
  float laid_height_ = 0;  // of the lanes, that the layout was made for
  float least_height_ = 0;
  GlyphWidths widths_;
  float widths_size_ = 0;
  Chain chain_;
  TimelineAreas areas_;
  std::array<Region, 2> regions_;  // what scrolls, then what is pinned
  LaneDrag lane_drag_;
  LaneMenu lane_menu_;
  std::vector<SliceRect> rects_;
  std::vector<VisibleItem> scratch_;
  std::vector<InstantMark> marks_;
  Zones zones_;
  LaneFindings findings_;
  SceneArrows scene_arrows_;
  GapWords gap_words_;
  CounterColumns counter_columns_;
  bool hovered_ = false;  // the pointer is over the lanes, titles or ruler
  bool clicked_ = false;  // pressed and released in place
  bool double_clicked_ = false;
  std::optional<Span> dragged_range_;  // while a range is being dragged in the ruler
  AreaDrag area_drag_;
  OverviewGrip grip_ = OverviewGrip::none;
};

}  // namespace gapscope
