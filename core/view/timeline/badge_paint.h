#pragma once
// Where badges stand on the lanes, in columns of pixels: a mark for each slice that a finding names, a hatched stretch for
// each gap. Marks that would overlap fold into one with a count.
#include <cstdint>
#include <vector>

#include "core/diagnose/rule.h"
#include "core/view/findings/findings_model.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {

// Everything that one lane shows of the shown findings, in time order. Made once a diagnosis and choice of findings.
struct LaneFindings {
  struct Mark {
    Span span;
    SliceId slice;  // none: a gap
    std::uint32_t finding = 0;
    std::uint32_t place = 0;
    Severity severity{};
  };
  std::vector<std::vector<Mark>> marks;  // by LaneId
  // What the lists were made for.
  const Diagnosis* diagnosis = nullptr;
  bool quiet = false, explain = false;
  std::vector<std::string> muted;
  std::int32_t chosen = -1;
};
// Findings that have a place on the lanes: not what is only read in the panel, unless it is chosen.
bool stands_on_lanes(const Finding& finding);
// `chosen` is a position in Diagnosis::findings, -1: none.
void gather_lane_findings(const Trace& trace, const Diagnosis& diagnosis, const FindingsState& state, std::int32_t chosen,
                          LaneFindings& out);

struct Badge {
  int x = 0;                             // column of its centre
  std::uint32_t finding = 0, place = 0;  // of the worst
  std::uint32_t count = 1;
  Severity severity{};
};
struct GapMark {
  int x0 = 0, x1 = 0;
  Span span;
  std::uint32_t finding = 0, place = 0;
  Severity severity{};
};
// Of one lane's marks, what shows in the grid; badges stay `room` columns apart. Appends.
void paint_badges(const std::vector<LaneFindings::Mark>& marks, const PixelGrid& grid, int room, std::vector<Badge>& badges,
                  std::vector<GapMark>& gaps);

}  // namespace gapscope
