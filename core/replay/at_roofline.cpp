#include "core/replay/at_roofline.h"

#include <algorithm>
#include <cmath>

#include "core/analyze/work/kernel_floors.h"

namespace gapscope {

Change at_roofline(const ReplayModel& model, const Trace& trace, const WorkTable& table, double reached) {
  Change out;
  const KernelFloors floors(trace, table);
  for (const ReplayModel::Operation& op : model.ops()) {
    const auto floor = reached > 0 ? floors.of(op.slice) : std::nullopt;
    const Ns least = floor ? static_cast<Ns>(std::ceil(*floor / reached)) : op.span.length();
    out.lasts.push_back(std::min(op.span.length(), least));
  }
  return out;
}

}  // namespace gapscope
