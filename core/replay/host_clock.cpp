#include "core/replay/host_clock.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/base/gallop.h"
#include "core/base/saturating.h"
#include "core/replay/plain_time.h"

namespace gapscope {

HostClock::HostClock(const ReplayModel& model, const Change& change)
    : model_(model),
      removed_(change.removed),
      pace_(change.host),
      plain_pace_(change.pace.get()),
      plain_(change.host == 1 && change.removed.empty() && !change.pace) {
  removed_before_.reserve(removed_.size() + 1);
  Ns sum = 0;
  for (const Span& span : removed_) {
    removed_before_.push_back(sum);
    add_saturating(sum, paced(span.end) - paced(span.begin));
  }
  origin_ = without_removed(model.run().begin, begun_at(model.run().begin));
  calls_.reserve(model.calls().size());
  std::size_t begun = 0;  // calls come in the order they begin: no search for each
  for (const ReplayModel::HostCall& call : model.calls()) {
    while (begun < removed_.size() && removed_[begun].begin <= call.span.begin) ++begun;
    calls_.push_back(bare(call.span.begin, begun));
    if (!plain_) begun_.push_back(static_cast<std::uint32_t>(begun));
  }
  offset_.assign(model.clocks(), 0);
  jumps_.resize(model.clocks());
}

std::size_t HostClock::begun_at(Ns t) const {
  const auto at = std::upper_bound(removed_.begin(), removed_.end(), t, [](Ns time, const Span& s) { return time < s.begin; });
  return static_cast<std::size_t>(at - removed_.begin());
}

Ns HostClock::paced(Ns t) const { return plain_pace_ == nullptr ? t : plain_pace_->at(t, hint_); }

Ns HostClock::without_removed(Ns t, std::size_t begun) const {
  if (begun == 0) return paced(t);
  const Span& last = removed_[begun - 1];
  return paced(t) - removed_before_[begun - 1] - (paced(std::min(t, last.end)) - paced(last.begin));
}

Ns HostClock::bare(Ns t, std::size_t begun) const {
  if (plain_) return t;
  t = without_removed(t, begun);
  if (pace_ == 1) return t;
  return sum_saturating(origin_, scaled(difference_saturating(t, origin_), pace_));
}

Ns HostClock::now(std::uint32_t clock, Ns t) const { return sum_saturating(bare(t), offset_[clock]); }

// Most calls are short: from where they begin it is not far.
Ns HostClock::bare_end(std::uint32_t call) const {
  const Ns end = model_.calls()[call].span.end;
  if (plain_) return end;
  return bare(end, first_where(begun_[call], removed_.size(), [&](std::size_t i) { return removed_[i].begin > end; }));
}

Ns HostClock::at_end_of(std::uint32_t call) const {
  return sum_saturating(bare_end(call), offset_[model_.calls()[call].clock]);
}

void HostClock::set_end_of(std::uint32_t call, Ns at) {
  const ReplayModel::HostCall& of = model_.calls()[call];
  set(of.clock, of.span.end, at, bare_end(call));
}

void HostClock::set(std::uint32_t clock, Ns old, Ns at, Ns bare_old) {
  offset_[clock] = difference_saturating(at, bare_old);
  std::vector<Jump>& jumps = jumps_[clock];
  // A wait that began later and ended sooner knows of the earlier one: times after both go by it.
  jumps.push_back({jumps.empty() ? old : std::max(old, jumps.back().old), offset_[clock]});
}

void HostClock::come_sooner(Ns old, Ns by) {
  for (std::uint32_t clock = 0; clock < offset_.size() && by > 0; ++clock)
    set(clock, old, difference_saturating(now(clock, old), by));
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
