// Arrows over the lanes: all in sight of the kinds asked for, faint; those of the selection's chain, whose ends can be
// clicked; the chosen one, with its launch latency.
#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/timeline/flow_choice.h"
#include "core/view/timeline/flow_paint.h"
#include "ui/timeline/timeline_scene.h"

namespace gapscope {
namespace {

constexpr float kArrow = 7;
constexpr float kDot = 3;
constexpr float kReach = 7;                  // px around an end that take a click
constexpr std::size_t kMostOfSelection = 8;  // of a selection
constexpr float kSceneAlpha = 0.4f;
constexpr float kSceneArrow = 5;

void add_end_zone(TimelineScene& scene, ImVec2 at, SliceId leads_to) {
  const float r = scene.painter.px(kReach);
  scene.zones.add({ZoneKind::flow_end, at.x - r, at.y - r, at.x + r, at.y + r, leads_to, {}, {}, 0, 0, {}});
}

ImVec2 place(const TimelineScene& scene, Point p) { return ImVec2(scene.areas.lanes.x0 + p.x, scene.window_y(p.y)); }

void draw_head(Painter& p, ImVec2 end, float size, ImU32 ink) {
  p.list().AddTriangleFilled({end.x, end.y}, {end.x - size, end.y - size * 0.6f}, {end.x - size, end.y + size * 0.6f}, ink);
}

void draw_curve(TimelineScene& scene, const FlowCurve& curve, Rgb rgb, float alpha, float width) {
  const ImU32 ink = colour(rgb, alpha);
  Painter& p = scene.painter;
  const float arrow = p.px(kArrow);
  const ImVec2 start = place(scene, curve.start);
  const ImVec2 end = place(scene, curve.end);
  // A dark edge keeps the curve readable over bright slices.
  for (const bool under : {true, false}) {
    p.list().AddBezierCubic(start, place(scene, curve.start_pull), place(scene, curve.end_pull), {end.x - arrow, end.y},
                            under ? colour(scene.theme.background, alpha * 0.7f) : ink, p.px(under ? width + 2 : width));
  }
  draw_head(p, end, arrow, ink);
  p.list().AddCircleFilled(start, p.px(kDot), ink);
  if (curve.start_visible) add_end_zone(scene, start, curve.from == scene.view.selection ? curve.to : curve.from);
  if (curve.end_visible) add_end_zone(scene, end, curve.to == scene.view.selection ? curve.from : curve.to);
}

// Thin and without zones: there are hundreds, and slices below them are to be clicked.
void draw_scene_curve(TimelineScene& scene, const FlowCurve& curve) {
  Painter& p = scene.painter;
  const ImVec2 start = place(scene, curve.start);
  const ImVec2 end = place(scene, curve.end);
  const Box& lanes = scene.areas.lanes;
  if ((start.y < lanes.y0 && end.y < lanes.y0) || (start.y > lanes.y1 && end.y > lanes.y1)) return;
  const ImU32 ink = colour(scene.theme.flow, kSceneAlpha);
  const float size = p.px(kSceneArrow);
  p.list().AddBezierCubic(start, place(scene, curve.start_pull), place(scene, curve.end_pull), {end.x - size, end.y}, ink,
                          p.hairline(), 16);
  draw_head(p, end, size, colour(scene.theme.flow, 0.8f));
}

std::vector<FlowCurve> curves_of(const TimelineScene& scene, std::span<const Arrow> arrows) {
  return paint_flows(scene.document.trace, arrows, scene.layout, scene.view.time, scene.areas.lanes.width());
}

void draw_scene_arrows(TimelineScene& scene) {
  FlowsState& flows = scene.view.flows;
  flows.in_sight = flows.drawn = 0;
  const ArrowIndex* index = scene.document.arrows();
  if (flows.show == FlowShow::selection || !index) return;
  SceneArrows& chosen = scene.caches.arrows;
  update_scene_arrows(*index, flows.show, scene.view.time.span, chosen);
  std::vector<FlowCurve> curves = curves_of(scene, chosen.arrows);
  thin_curves(scene.document.trace, scene.grid, curves);
  flows.in_sight = chosen.in_sight;
  flows.drawn = curves.size();
  for (const FlowCurve& curve : curves) draw_scene_curve(scene, curve);
}

// The arrow that carries its latency: the chosen one, else the only launch that the selection takes part in.
std::optional<Arrow> labelled(const TimelineScene& scene) {
  if (const std::optional<Arrow> chosen = chosen_arrow(scene.view)) return chosen;
  std::optional<Arrow> only;
  for (const Arrow& arrow : scene.chain.arrows) {
    if (arrow.from != scene.view.selection && arrow.to != scene.view.selection) continue;
    if (scene.document.links.call_of(arrow.to) != arrow.from) continue;
    if (only) return std::nullopt;
    only = arrow;
  }
  return only;
}

// At the middle of the curve's part on the screen, on a plate: it is over slices and their names.
void draw_latency(TimelineScene& scene, const FlowCurve& curve) {
  const std::string latency = latency_text(scene.document, curve.from, curve.to);
  if (latency.empty()) return;
  const std::string text = latency + " after its launch";
  Painter& p = scene.painter;
  const ImVec2 start = place(scene, curve.start), end = place(scene, curve.end);
  const Box &at_start = scene.lane_window.part_of(curve.start.y), &at_end = scene.lane_window.part_of(curve.end.y);
  const Box& lanes = at_end.holds({at_end.x0, (start.y + end.y) / 2}) ? at_end : at_start;  // else it would cover the kernel
  const float width = p.text_width(Face::mono, text) + p.px(12), height = font_size(Face::mono) + p.px(6);
  const float x = std::clamp((start.x + end.x) / 2, lanes.x0, lanes.x1) - width / 2;
  const float y = std::clamp((start.y + end.y) / 2, lanes.y0, lanes.y1) - height / 2;
  Box plate{std::round(std::clamp(x, lanes.x0 + p.px(4), std::max(lanes.x0 + p.px(4), lanes.x1 - width - p.px(4)))),
            std::round(std::clamp(y, lanes.y0 + p.px(2), std::max(lanes.y0 + p.px(2), lanes.y1 - height - p.px(2)))), 0, 0};
  plate.x1 = plate.x0 + width;
  plate.y1 = plate.y0 + height;
  p.fill_rounded(plate, colour(scene.theme.raised), p.px(3));
  p.frame(plate, colour(scene.theme.flow, 0.6f), p.hairline());
  p.text_in(Face::mono, {plate.x0 + p.px(6), plate.y0, plate.x1, plate.y1}, colour(scene.theme.text), text);
}

}  // namespace

void draw_flows(TimelineScene& scene) {
  draw_scene_arrows(scene);
  scene.view.flows.of_selection = scene.chain.arrow_count;
  scene.view.flows.of_selection_drawn = scene.chain.arrows.size();
  const std::optional<Arrow> chosen = chosen_arrow(scene.view);
  std::vector<Arrow> arrows = scene.chain.arrows;
  if (arrows.size() > kMostOfSelection) arrows.clear();  // its work is underlined; as many arrows hide the texts below them
  if (chosen) {
    std::erase(arrows, *chosen);
    arrows.push_back(*chosen);  // on top, also where the chain was thinned
  }
  const std::optional<Arrow> with_text = labelled(scene);
  const std::vector<FlowCurve> curves = curves_of(scene, arrows);
  const bool faint = chosen.has_value();
  for (const FlowCurve& curve : curves) {
    const bool is_chosen = chosen && chosen->from == curve.from && chosen->to == curve.to;
    if (is_chosen)
      draw_curve(scene, curve, scene.theme.selection, 1.0f, 3);
    else
      draw_curve(scene, curve, scene.theme.flow, faint ? 0.45f : 0.95f, 2);
  }
  for (const FlowCurve& curve : curves) {
    if (with_text && with_text->from == curve.from && with_text->to == curve.to) draw_latency(scene, curve);
  }
}

}  // namespace gapscope
