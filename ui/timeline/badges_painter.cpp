// Findings on the lanes: hatched gaps, and badges in the room above the slices. The shape shows the severity as the
// colour does.
#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"
#include "ui/timeline/timeline_scene.h"

namespace gapscope {
namespace {

constexpr float kBadge = 10, kStreamBadge = 8;  // px at scale 1
constexpr float kBadgeTop = 2, kStreamTop = 1;  // from the top of the lane; a stream has its annotations right below
constexpr float kCountRoom = 40;                // between the centres of two badges: a shape and a count of three digits
constexpr float kStreamRoom = 90;               // the same over kernels: there the gaps show their causes already
constexpr float kHatch = 0.38f, kHatchChosen = 0.8f;

// Where a gap hides no slice: on a GPU stream at the first depth that is free there (annotations continue over gaps), on a
// thread in the room above its slices.
LaneLayout::Strip strip_of_gap(const TimelineScene& scene, const Band& band, const GapMark& gap) {
  const Document& doc = scene.document;
  const Ns middle = gap.span.begin + gap.span.length() / 2;
  if (band.stream) {
    for (std::uint32_t depth = 0; depth < band.depths; ++depth) {
      const RowSlices row = row_of(doc.trace, doc.lanes, band, depth);
      if (band.collapsed || position_at(row, middle) == row.begin.size()) return scene.layout.strip(band, depth);
    }
  }
  const float top = scene.painter.px(kBadgeTop);
  return {band.y + top, std::max(scene.painter.px(kBadge), scene.layout.strip(band, 0).y - band.y - 2 * top)};
}

void draw_gap(TimelineScene& scene, const Band& band, const GapMark& gap, bool with_length) {
  Painter& p = scene.painter;
  const LaneLayout::Strip strip = strip_of_gap(scene, band, gap);
  const float y0 = scene.window_y(strip.y);
  const Box box{scene.window_x(std::max(gap.x0, 0)), y0, scene.window_x(std::min(gap.x1, scene.grid.width())),
                y0 + strip.height};
  const bool chosen = scene.view.finding.chosen == static_cast<std::int32_t>(gap.finding);
  const Rgb ink = severity_colour(gap.severity, scene.theme);
  p.hatch(box, colour(ink, chosen ? kHatchChosen : kHatch));
  p.line_y(box.x0, box.y0, box.y1, colour(ink, 0.8f));
  p.line_y(box.x1 - p.hairline(), box.y0, box.y1, colour(ink, 0.8f));
  const std::string length = format_duration(gap.span.length());
  const float width = p.text_width(Face::mono, length) + p.px(8);
  if (with_length && width < box.width() && strip.height >= font_size(Face::mono)) {
    const float x = std::floor((box.x0 + box.x1 - width) / 2);
    const Box label{x, box.y0 + p.px(1), x + width, box.y1 - p.px(1)};
    p.fill(label, colour(scene.theme.background, 0.85f));
    p.text_in(Face::mono, {label.x0 + p.px(4), label.y0, label.x1, label.y1}, colour(ink), length);
  }
  scene.zones.add({ZoneKind::badge, box.x0, box.y0, box.x1, box.y1, {}, band.lane, {}, gap.finding, 1, gap.span, gap.place});
}

void draw_badge(TimelineScene& scene, const Band& band, const Badge& badge) {
  Painter& p = scene.painter;
  const bool low = band.stream && !band.collapsed;
  const float size = p.px(low ? kStreamBadge : kBadge), y0 = scene.window_y(band.y) + p.px(low ? kStreamTop : kBadgeTop);
  const bool chosen = scene.view.finding.chosen == static_cast<std::int32_t>(badge.finding);
  const std::string count = badge.count > 1 ? format_count(badge.count) : std::string();
  const float text = count.empty() ? 0 : p.text_width(Face::mono, count) * 0.8f + p.px(3);
  const Box& lanes = scene.areas.lanes;
  const float x0 = std::clamp(std::floor(scene.window_x(badge.x) - (size + text) / 2), lanes.x0,
                              std::max(lanes.x0, lanes.x1 - size - text - p.px(2)));
  const Box box{x0 - p.px(2), y0 - p.px(1), x0 + size + text + p.px(2), y0 + size + p.px(1)};
  const Rgb ink = severity_colour(badge.severity, scene.theme);
  if (chosen) p.fill_rounded(box, colour(ink, 0.35f), p.px(3));
  draw_severity(p, {x0 + size / 2, y0 + size / 2}, size, badge.severity, scene.theme);
  if (!count.empty()) {
    p.list().AddText(font_of(Face::mono), font_size(Face::mono) * 0.8f,
                     {x0 + size + p.px(3), std::floor(y0 + size / 2 - font_size(Face::mono) * 0.4f)}, colour(scene.theme.text),
                     count.data(), count.data() + count.size());
  }
  scene.zones.add(
      {ZoneKind::badge, box.x0, box.y0, box.x1, box.y1, {}, band.lane, {}, badge.finding, badge.count, {}, badge.place});
}

}  // namespace

Rgb severity_colour(Severity severity, const Theme& theme) {
  return severity == Severity::costly ? theme.costly : severity == Severity::notable ? theme.notable : theme.informational;
}

void draw_severity(Painter& painter, ImVec2 centre, float size, Severity severity, const Theme& theme) {
  const ImU32 ink = colour(severity_colour(severity, theme));
  const float r = size / 2;
  ImDrawList& list = painter.list();
  switch (severity) {
    case Severity::costly:
      list.AddTriangleFilled({centre.x, centre.y - r}, {centre.x + r, centre.y + r}, {centre.x - r, centre.y + r}, ink);
      break;
    case Severity::notable:
      list.AddQuadFilled({centre.x, centre.y - r}, {centre.x + r, centre.y}, {centre.x, centre.y + r}, {centre.x - r, centre.y},
                         ink);
      break;
    case Severity::informational: list.AddCircleFilled(centre, r * 0.7f, ink, 12); break;
  }
}

void draw_badges(TimelineScene& scene, const Band& band, LaneId lane) {
  const auto& marks = scene.findings.marks[lane.index()];
  if (marks.empty()) return;
  std::vector<Badge> badges;
  std::vector<GapMark> gaps;
  paint_badges(marks, scene.grid, static_cast<int>(scene.painter.px(band.stream ? kStreamRoom : kCountRoom)), badges, gaps);
  // A stream shows its gaps with their causes anyway; there only the chosen finding's are marked.
  const bool has_causes = band.stream && account_of(scene.document) != nullptr;
  for (const GapMark& gap : gaps)
    if (!has_causes || scene.view.finding.chosen == static_cast<std::int32_t>(gap.finding))
      draw_gap(scene, band, gap, /*with_length=*/!has_causes);
  const bool has_room = !band.stream || band.collapsed || scene.layout.metrics().stream_head >= scene.painter.px(kBadge);
  if (!has_room) return;  // over the kernels they would hide what they point at
  for (const Badge& badge : badges) draw_badge(scene, band, badge);
}

}  // namespace gapscope
