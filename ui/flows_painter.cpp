// Arrows of the selection's chain, over the lanes; both ends can be clicked.
#include <cmath>

#include "core/view/flow_paint.h"
#include "ui/timeline_scene.h"

namespace gapscope {
namespace {

constexpr float kArrow = 7;
constexpr float kDot = 3;
constexpr float kReach = 7;     // px around an end that take a click
constexpr float kCrowded = 12;  // from this many arrows on they are drawn fainter

void add_end_zone(TimelineScene& scene, ImVec2 at, SliceId leads_to) {
  const float r = scene.painter.px(kReach);
  scene.zones.add({ZoneKind::flow_end, at.x - r, at.y - r, at.x + r, at.y + r, leads_to, {}, {}, 0, 0, {}});
}

void draw_curve(TimelineScene& scene, const FlowCurve& curve, float alpha) {
  const auto at = [&](Point p) { return ImVec2(scene.areas.lanes.x0 + p.x, scene.window_y(p.y)); };
  const ImU32 ink = colour(scene.theme.flow, alpha);
  Painter& p = scene.painter;
  const float arrow = p.px(kArrow);
  const ImVec2 start = at(curve.start);
  const ImVec2 end = at(curve.end);
  // A dark edge keeps the curve readable over bright slices.
  for (const bool under : {true, false}) {
    p.list().AddBezierCubic(start, at(curve.start_pull), at(curve.end_pull), {end.x - arrow, end.y},
                            under ? colour(scene.theme.background, alpha * 0.7f) : ink, p.px(under ? 4.0f : 2.0f));
  }
  p.list().AddTriangleFilled({end.x, end.y}, {end.x - arrow, end.y - arrow * 0.6f},
                             {end.x - arrow, end.y + arrow * 0.6f}, ink);
  p.list().AddCircleFilled(start, p.px(kDot), ink);
  if (curve.start_visible) add_end_zone(scene, start, curve.from == scene.view.selection ? curve.to : curve.from);
  if (curve.end_visible) add_end_zone(scene, end, curve.to == scene.view.selection ? curve.from : curve.to);
}

}  // namespace

void draw_flows(TimelineScene& scene) {
  const auto curves =
      paint_flows(scene.document.trace, scene.chain, scene.layout, scene.view.time, scene.areas.lanes.width());
  const float alpha = static_cast<float>(curves.size()) < kCrowded ? 0.95f : 0.45f;
  for (const FlowCurve& curve : curves) draw_curve(scene, curve, alpha);
}

}  // namespace gapscope
