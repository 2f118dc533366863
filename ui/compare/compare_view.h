#pragma once
// Two timelines on one axis: time counts from the begin of the step that both are aligned on, so that what takes longer in one
// is longer on the screen. What changed, one overview and one ruler; below them A's GPUs, then B's, then the other lanes of A
// and of B, folded at first. Scrolled and zoomed together; what is folded, pinned, hidden or searched for in the one is so in
// the other, a time marked in the ruler is marked in both. Selections and marked areas are each one's own. Keys and panels are
// about the trace that was clicked last.
#include <array>
#include <memory>
#include <string>

#include "core/view/compare/lane_partners.h"
#include "core/view/compare/two_views.h"
#include "ui/app_ui.h"
#include "ui/commands.h"
#include "ui/timeline/painter.h"
#include "ui/timeline/timeline_input.h"
#include "ui/timeline/timeline_panel.h"

namespace gapscope {

struct ComparedTimelines {
  const Document& a;
  TimelinePanel& timeline_a;
};

class CompareView {
 public:
  // B; null: there is one trace only.
  const Document* document() const { return document_; }
  const TimelinePanel& timeline() const { return *timeline_; }
  TimelinePanel& timeline() { return *timeline_; }
  const Alignment& alignment() const { return alignment_; }

  // Another B, or none.
  void adopt(const Document* a, const Document* b, ViewState& view);
  // Another A: where the two met means nothing any more.
  void restart(const Document* a, ViewState& view);
  // A and B change places, with their timelines.
  void swap(const Document*& a, std::unique_ptr<TimelinePanel>& timeline, ViewState& view);

  // At the start of a frame: the side that a click or key was meant for, the comparison, what the tab wants to be shown.
  void begin_frame(const ComparedTimelines& two, ViewState& view, bool keys_free, std::span<const KeyPress> presses,
                   Requests& out);
  // Px that show the GPUs of both, below overview and ruler.
  float least_height(const ComparedTimelines& two, ViewState& view);
  void draw(const ComparedTimelines& two, ViewState& view, const Box& box, const TimelineKeys& keys, double delta_s,
            Requests& out);

  // Where its parts lie, as of the last frame; empty where there was no room.
  struct Places {
    Box strip, overview, ruler, splitter;
    std::array<Box, 2> header, top, rest;  // by TraceSide
  };
  const Places& places() const { return places_; }

 private:
  using BothHeights = std::array<TimelinePanel::Heights, 2>;
  const Document& document_of(TraceSide side, const ComparedTimelines& two) const {
    return side == TraceSide::a ? two.a : *document_;
  }
  TimelinePanel& timeline_of(TraceSide side, const ComparedTimelines& two) {
    return side == TraceSide::a ? two.timeline_a : *timeline_;
  }
  Ns zero_of(TraceSide side) const { return side == TraceSide::a ? alignment_.zero_a : alignment_.zero_b; }
  Span reach_of(TraceSide side, const ComparedTimelines& two) const;
  void choose_side(ViewState& view, bool keys_free, std::span<const KeyPress> presses);
  void ask(const ComparedTimelines& two, WindowState& window, Requests& out) const;
  void take_answer(const ComparedTimelines& two, ViewState& view);
  void link(const ComparedTimelines& two, ViewState& view);
  void show(const ComparedTimelines& two, ViewState& view, const SlicePair& pair);
  void keep_alike(const ComparedTimelines& two, ViewState& view);
  void share_search(const ComparedTimelines& two, ViewState& view, Requests& out);
  void share_range(ViewState& view, const std::optional<Span>& range_before_of_a);
  BothHeights measure(const ComparedTimelines& two, ViewState& view);
  // `ruler`: px of its height.
  Places lay_out(const BothHeights& heights, const WindowState& window, const Box& box, float ruler) const;
  void draw_headers(const ComparedTimelines& two, ViewState& view, Requests& out);
  void move_both(const ComparedTimelines& two, ViewState& view, const TimelineKeys& keys, double delta_s);
  void paint_both(const ComparedTimelines& two, ViewState& view);
  void follow(TraceSide from, ViewState& view);
  TimelinePlace place_of(TraceSide side) const;
  TraceSide leader(const ViewState& view) const;
  void draw_strip(const ComparedTimelines& two, WindowState& window, const Box& box, Requests& out);
  void draw_header(TraceSide side, const ComparedTimelines& two, ViewState& view, Box box);
  void draw_other_guide(const ComparedTimelines& two, const WindowState& window);

  const Document* document_ = nullptr;
  std::unique_ptr<TimelinePanel> timeline_ = std::make_unique<TimelinePanel>();
  Alignment alignment_;
  std::shared_ptr<const ComparisonAnswer> aligned_on_;
  Places places_;
  std::optional<TraceSide> pointed_;      // the one under the pointer, with nothing in front of it
  bool over_shared_ = false;              // overview or ruler are
  std::array<LaneFolds, 2> folds_seen_;   // as of the last frame
  std::array<LanePartners, 2> partners_;  // from A to B and back; empty: to be made
  std::optional<Span> shared_range_;      // marked in the ruler, in A's time
};

}  // namespace gapscope
