#include "core/replay/at_roofline.h"

#include <algorithm>
#include <cmath>

namespace gapscope {

Change at_roofline(const ReplayModel& model, const Trace& trace, const WorkTable& table, double reached) {
  Change out;
  for (const ReplayModel::Operation& op : model.ops()) {
    const auto floor = reached > 0 ? floor_of_kernel(trace, table, op.slice) : std::nullopt;
    const Ns least = floor ? static_cast<Ns>(std::ceil(*floor / reached)) : op.span.length();
    out.lasts.push_back(std::min(op.span.length(), least));
  }
  return out;
}

}  // namespace gapscope
