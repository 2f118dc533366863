#pragma once
// Arrows of a chain as curves in px of the lane area (x from the left edge of the axis, y from the top of all lanes).
#include <span>
#include <string>
#include <vector>

#include "core/view/details/chain.h"
#include "core/view/timeline/lane_layout.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {

struct Point {
  float x = 0, y = 0;
};

// A cubic curve from the end of the launch (or flow start) to the begin of what it leads to.
struct FlowCurve {
  Point start, start_pull, end_pull, end;
  SliceId from, to;
  StringId category;
  bool start_visible = false;  // inside the axis sideways
  bool end_visible = false;
};

// The most arrows that all of the visible stretch shows, besides those of the selection: each bucket of time gives a few
// (see ArrowIndex).
constexpr std::size_t kArrowsABucket = 3;
constexpr std::size_t kMostSceneArrows = 2 * kArrowsABucket * (2 * kArrowBuckets + 2);

// The arrows of `show` in sight, and how many start there.
struct SceneArrows {
  std::vector<Arrow> arrows;
  std::size_t in_sight = 0;
  FlowShow show = FlowShow::selection;
  ArrowBuckets buckets;
};
SceneArrows scene_arrows(const ArrowIndex& index, FlowShow show, Span visible);
// The same, where `last` is of an earlier frame: chosen anew only when the view has come to other buckets.
void update_scene_arrows(const ArrowIndex& index, FlowShow show, Span visible, SceneArrows& last);

// Curves whose both ends lie off the same side are left out. Ends far outside are brought to just outside the axis.
std::vector<FlowCurve> paint_flows(const Trace& trace, std::span<const Arrow> arrows, const LaneLayout& layout,
                                   const TimeView& time, float width_px);

// Leaves one curve of those that begin in the same pixel column of the same strip and end alike. The columns are those
// of `grid`, which move with the trace, so that the choice stays while the view pans.
void thin_curves(const Trace& trace, const PixelGrid& grid, std::vector<FlowCurve>& curves);

// "12.3 us", from the begin of a launch to that of its GPU work; empty for another arrow.
std::string latency_text(const Document& document, SliceId from, SliceId to);

}  // namespace gapscope
