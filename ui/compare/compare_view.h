#pragma once
// Two timelines, A above B, on one axis: time counts from the begin of the step that both are aligned on, so that what takes
// longer in one is longer on the screen. Scrolled and zoomed together; lanes, selection, ranges are each one's own. Keys and
// panels are about the trace that was clicked last, whose view ViewState holds; the other one's view waits here.
#include <array>
#include <memory>
#include <string>

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
  const Alignment& alignment() const { return alignment_; }
  // What the window shows of one of the two.
  const TraceView& view_of(TraceSide side, const ViewState& view) const { return view.compare.side == side ? view : waiting_; }

  // Another B, or none.
  void adopt(const Document* a, const Document* b, ViewState& view);
  // Another A: where the two met means nothing any more.
  void part(const Document* a, ViewState& view);
  // A and B change places, with their timelines.
  void swap(const Document*& a, std::unique_ptr<TimelinePanel>& timeline, ViewState& view);
  // Lets keys and panels be about one of the two.
  void act_on(TraceSide side, ViewState& view);

  // At the start of a frame: the side that a click or key was meant for, the comparison, what the tab wants to be shown.
  void begin_frame(const ComparedTimelines& two, ViewState& view, bool keys_free, std::span<const KeyPress> presses, Requests& out);
  // Px that show the GPUs of both.
  float least_height(const ComparedTimelines& two, const ViewState& view) const;
  void draw(const ComparedTimelines& two, ViewState& view, const Box& box, const TimelineKeys& keys, double delta_s, Requests& out);

 private:
  const Document& document_of(TraceSide side, const ComparedTimelines& two) const { return side == TraceSide::a ? two.a : *document_; }
  TimelinePanel& timeline_of(TraceSide side, const ComparedTimelines& two) { return side == TraceSide::a ? two.timeline_a : *timeline_; }
  Ns zero_of(TraceSide side) const { return side == TraceSide::a ? alignment_.zero_a : alignment_.zero_b; }
  Span reach_of(TraceSide side, const ComparedTimelines& two) const;
  template <class Do>
  void as(TraceSide side, ViewState& view, Do act);
  void choose_side(ViewState& view, bool keys_free, std::span<const KeyPress> presses);
  void ask(const ComparedTimelines& two, ViewState& view, Requests& out) const;
  void take_answer(const ComparedTimelines& two, ViewState& view);
  void link(const ComparedTimelines& two, ViewState& view);
  void show(const ComparedTimelines& two, ViewState& view, const SlicePair& pair);
  void draw_side(TraceSide side, const ComparedTimelines& two, ViewState& view, const TimelineKeys& keys, double delta_s, bool with_overview);
  void draw_header(TraceSide side, const ComparedTimelines& two, ViewState& view, Box box, Requests& out);
  void draw_guide_beside(const ComparedTimelines& two, const ViewState& view);

  const Document* document_ = nullptr;
  std::unique_ptr<TimelinePanel> timeline_ = std::make_unique<TimelinePanel>();
  TraceView waiting_;  // of the side that is not acted on
  Alignment alignment_;
  std::shared_ptr<const ComparisonAnswer> aligned_on_;
  std::array<Box, 2> boxes_;  // of the timelines in the last frame
  std::optional<TraceSide> pointed_;  // the one under the pointer, with nothing in front of it
};

}  // namespace gapscope
