#include "core/replay/host_walk.h"

namespace gapscope {

HostWalk::HostWalk(const ReplayModel& model, const ReplayResult& result) : model_(model), result_(result) {
  std::vector<std::uint32_t> last(model.clocks(), ReplayModel::kNone);
  before_.reserve(model.calls().size());
  for (std::uint32_t c = 0; c < model.calls().size(); ++c) {
    std::uint32_t& before = last[model.calls()[c].clock];
    before_.push_back(before);
    before = c;
  }
}

std::uint32_t HostWalk::last(std::uint32_t clock, Ns old) const {
  const auto& calls = model_.calls();
  auto at = std::upper_bound(calls.begin(), calls.end(), old,
                             [](Ns t, const ReplayModel::HostCall& call) { return t < call.span.begin; });
  while (at != calls.begin())
    if ((--at)->clock == clock) return static_cast<std::uint32_t>(at - calls.begin());
  return ReplayModel::kNone;
}

}  // namespace gapscope
