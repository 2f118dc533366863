#include "core/replay/host_clock.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/base/saturating.h"

namespace gapscope {

HostClock::HostClock(const ReplayModel& model, const Change& change)
    : removed_(change.removed), pace_(change.host), plain_(change.host == 1 && change.removed.empty()) {
  removed_before_.reserve(removed_.size() + 1);
  Ns sum = 0;
  for (const Span& span : removed_) {
    removed_before_.push_back(sum);
    add_saturating(sum, span.length());
  }
  origin_ = without_removed(model.run().begin);
  calls_.reserve(model.calls().size());
  clock_of_.reserve(model.calls().size());
  for (const ReplayModel::HostCall& call : model.calls()) {
    calls_.push_back(bare(call.span.begin));
    clock_of_.push_back(call.clock);
  }
  offset_.assign(model.clocks(), 0);
  jumps_.resize(model.clocks());
}

Ns HostClock::without_removed(Ns t) const {
  auto at = std::upper_bound(removed_.begin(), removed_.end(), t, [](Ns time, const Span& s) { return time < s.begin; });
  if (at == removed_.begin()) return t;
  --at;
  const Ns before = removed_before_[static_cast<std::size_t>(at - removed_.begin())];
  return t - before - (std::min(t, at->end) - at->begin);
}

Ns HostClock::bare(Ns t) const {
  if (plain_) return t;
  t = without_removed(t);
  if (pace_ == 1) return t;
  return sum_saturating(origin_, scaled(difference_saturating(t, origin_), pace_));
}

Ns HostClock::now(std::uint32_t clock, Ns t) const { return sum_saturating(bare(t), offset_[clock]); }

void HostClock::set(std::uint32_t clock, Ns old, Ns at) {
  offset_[clock] = difference_saturating(at, bare(old));
  std::vector<Jump>& jumps = jumps_[clock];
  // A wait that began later and ended sooner knows of the earlier one: times after both go by it.
  jumps.push_back({jumps.empty() ? old : std::max(old, jumps.back().old), offset_[clock]});
}

Ns HostClock::after(std::uint32_t clock, Ns t) const {
  const std::vector<Jump>& jumps = jumps_[clock];
  const auto at = std::upper_bound(jumps.begin(), jumps.end(), t, [](Ns time, const Jump& j) { return time < j.old; });
  return sum_saturating(bare(t), at == jumps.begin() ? 0 : std::prev(at)->offset);
}

Ns scaled(Ns t, double factor) {
  if (factor == 1) return t;
  const double to = static_cast<double>(t) * factor;
  return to >= 9.2e18 ? std::numeric_limits<Ns>::max() : to <= -9.2e18 ? std::numeric_limits<Ns>::min() : static_cast<Ns>(to);
}

}  // namespace gapscope
