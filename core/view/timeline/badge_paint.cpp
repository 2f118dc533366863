#include "core/view/timeline/badge_paint.h"

#include <algorithm>

#include "core/diagnose/diagnose.h"

namespace gapscope {

bool stands_on_lanes(const Finding& finding) {
  switch (finding.rule->rule_class) {
    case RuleClass::problem:
    case RuleClass::problem_locator:
    case RuleClass::mixed:
    case RuleClass::start_up:
    case RuleClass::profiler_artefact: return true;
    case RuleClass::observation:
    case RuleClass::data_health: return finding.severity != Severity::informational;
    case RuleClass::good_sign:
    case RuleClass::reading_help:
    case RuleClass::recording:
    case RuleClass::table_trap: return false;
  }
  return false;
}

void gather_lane_findings(const Trace& trace, const Diagnosis& diagnosis, const FindingsState& state, std::int32_t chosen,
                          LaneFindings& out) {
  if (out.diagnosis == &diagnosis && out.quiet == state.quiet && out.explain == state.explain && out.muted == state.muted &&
      out.chosen == chosen)
    return;
  out = {std::vector<std::vector<LaneFindings::Mark>>(trace.lanes.size()),
         &diagnosis,
         state.quiet,
         state.explain,
         state.muted,
         chosen};
  for (const FindingRow& row : shown_findings(diagnosis, state)) {
    const Finding& finding = diagnosis.findings[row.finding].finding;
    if (!stands_on_lanes(finding) && chosen != static_cast<std::int32_t>(row.finding)) continue;
    for (std::uint32_t place = 0; place < finding.spans.size(); ++place) {
      const FindingSpan& at = finding.spans[place];
      if (at.lane) out.marks[at.lane.index()].push_back({at.span, at.slice, row.finding, place, finding.severity});
    }
  }
  for (auto& marks : out.marks)
    std::stable_sort(marks.begin(), marks.end(), [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
}

void paint_badges(const std::vector<LaneFindings::Mark>& marks, const PixelGrid& grid, int room, std::vector<Badge>& badges,
                  std::vector<GapMark>& gaps) {
  const std::size_t first = badges.size();
  for (const LaneFindings::Mark& mark : marks) {
    const int x0 = grid.column(mark.span.begin), x1 = grid.column(mark.span.end);
    if (x1 < 0 || x0 >= grid.width()) continue;
    if (!mark.slice && x1 > x0) gaps.push_back({x0, x1, mark.span, mark.finding, mark.place, mark.severity});
    // What began left of the screen keeps its badge at the edge.
    const int x = std::clamp(mark.slice ? x0 : (std::max(x0, 0) + std::min(x1, grid.width())) / 2, room / 2,
                             std::max(room / 2, grid.width() - room / 2));
    if (badges.size() == first || x - badges.back().x >= room) {
      badges.push_back({x, mark.finding, mark.place, 1, mark.severity});
      continue;
    }
    Badge& last = badges.back();
    ++last.count;
    if (mark.severity <= last.severity) continue;
    last.severity = mark.severity;
    last.finding = mark.finding;
    last.place = mark.place;
  }
}

}  // namespace gapscope
