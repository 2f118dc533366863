#include "core/view/timeline/lane_drag.h"

#include <cmath>
#include <vector>

namespace gapscope {
namespace {

// What may change places with what is dragged: from y0 to y1.
struct Stretch {
  float y0 = 0, y1 = 0;
  LaneId lane;
  ProcessId process;
};

std::vector<Stretch> lanes_beside(const LaneLayout& layout, LaneId dragged) {
  std::vector<Stretch> lanes;
  const Band* own = layout.band_of(dragged);
  if (!own || own->kind != BandKind::lane) return lanes;
  for (const Band& band : layout.bands()) {
    const bool together =
        band.pinned ? own->pinned : !own->pinned && band.process == own->process && band.stream == own->stream;
    if (band.kind == BandKind::lane && together) lanes.push_back({band.y, band.bottom(), band.lane, {}});
  }
  return lanes;
}

std::vector<Stretch> processes(const LaneLayout& layout) {
  std::vector<Stretch> found;
  for (const Band& band : layout.bands()) {
    if (band.kind == BandKind::process) found.push_back({band.y, band.bottom(), {}, band.process});
    if (!found.empty()) found.back().y1 = band.bottom();
  }
  return found;
}

}  // namespace

std::optional<LaneDrop> drop_at(const LaneLayout& layout, const LaneDrag& drag, float y) {
  const std::vector<Stretch> places = drag.lane.valid() ? lanes_beside(layout, drag.lane) : processes(layout);
  const auto is_dragged = [&](std::size_t i) {
    return drag.lane.valid() ? places[i].lane == drag.lane : places[i].process == drag.process;
  };
  std::optional<LaneDrop> best;
  bool stays = false;
  for (std::size_t border = 0; border <= places.size() && !places.empty(); ++border) {
    const bool last = border == places.size();
    const Stretch& neighbour = places[last ? border - 1 : border];
    const float at = last ? neighbour.y1 : neighbour.y0;
    if (best && std::abs(at - y) >= std::abs(best->y - y)) continue;
    best = LaneDrop{at, neighbour.lane, neighbour.process, last};
    stays = (!last && is_dragged(border)) || (border > 0 && is_dragged(border - 1));
  }
  return stays ? std::nullopt : best;
}

void drop(LaneFolds& folds, const LaneDrag& drag, const LaneDrop& at) {
  if (drag.lane.valid())
    move_lane(folds, drag.lane, at.lane, at.after);
  else
    move_process(folds, drag.process, at.process, at.after);
}

}  // namespace gapscope
