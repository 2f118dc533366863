#pragma once
// The timeline: overview, ruler, lane titles and lanes. Holds what is worth keeping between frames (layout, colours,
// chain, overview) and draws one frame from the document and the view state.
#include <memory>
#include <vector>

#include "core/view/overview.h"
#include "ui/timeline_input.h"
#include "ui/timeline_scene.h"

namespace gapscope {

class TimelinePanel {
 public:
  // Another document: forgets everything kept. Null when nothing is open.
  void adopt(const Document* document, ViewState& view);

  // A larger document of the same file: keeps what is visible where it is.
  void grow(const Document& from, const Document& to, ViewState& view);

  // Draws into the current ImGui window, over `box`.
  void draw(const Document& document, ViewState& view, const Box& box, const TimelineKeys& keys, double delta_s);

  // A held key or its glide moves the view: the next frame is due at once.
  bool moving() const { return motion_.moving(); }

  // Of the last frame, for tests.
  const TimelineAreas& areas() const { return areas_; }
  const std::vector<SliceRect>& rects() const { return rects_; }
  const Zones& zones() const { return zones_; }
  const LaneLayout& layout() const { return layout_; }

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
  void show_lane(const Document& document, ViewState& view);
  void clamp_scroll(ViewState& view) const;
  void move_by_mouse(const Document& document, ViewState& view, const TimelineKeys& keys, double delta_s);
  void drag_range(ViewState& view, bool active);
  void title_splitter(ViewState& view);
  void overview(const Document& document, ViewState& view, Painter& painter);
  void overview_drag(const Document& document, ViewState& view);
  void overview_grab(const Document& document, ViewState& view);
  void paint(const Document& document, const ViewState& view, const PixelGrid& grid, std::size_t first,
             std::size_t last);
  void draw_lanes(TimelineScene& scene);
  Zone draw_overlays(TimelineScene& scene);
  void click(const Document& document, ViewState& view, const Zone& zone);
  void act_on_mouse(const Document& document, ViewState& view, const Zone& zone);

  TimelineMotion motion_;
  std::unique_ptr<SliceColours> colours_;
  Overview overview_;
  LaneLayout layout_;
  const std::vector<CounterLane>* counters_ = nullptr;  // those in the layout
  std::uint64_t layout_revision_ = 0;
  float layout_scale_ = 0;
  GlyphWidths widths_;
  float widths_size_ = 0;
  Chain chain_;
  TimelineAreas areas_;
  std::vector<SliceRect> rects_;
  std::vector<VisibleItem> scratch_;
  std::vector<InstantMark> marks_;
  Zones zones_;
  LaneFindings findings_;
  bool hovered_ = false;  // the pointer is over the lanes, titles or ruler
  bool clicked_ = false;  // pressed and released in place
  bool double_clicked_ = false;
  std::optional<Span> dragged_range_;  // while a range is being dragged in the ruler
  OverviewGrip grip_ = OverviewGrip::none;
};

}  // namespace gapscope
