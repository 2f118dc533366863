#include "core/replay/path_sums.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/saturating.h"

namespace gapscope {
namespace {

using Key = std::tuple<HeldBy, int, StringId>;

class Sums {
 public:
  Sums(const Trace& trace, const HostTime& host, const Change& change)
      : trace_(trace), removed_(change.removed), is_plain_(change.pace != nullptr), reader_(host) {}

  void add(const PathStretch& s) {
    if (s.by != HeldBy::host) return add(s.by, -1, s.slice, s.span.length());
    const LaneId lane = s.slice ? trace_.lane_id(s.slice) : LaneId{};
    Ns left = s.span.length();
    for (const HostShare& share : host_shares(reader_, lane, s.old, removed_, left, is_plain_)) {
      add(HeldBy::host, static_cast<int>(share.piece.cause), share.piece.slice, share.time);
      left -= share.time;
    }
    if (left > 0) add(HeldBy::host, static_cast<int>(IdleCause::unrecorded), {}, left);
  }

  std::vector<PathSum> take() {
    std::vector<PathSum> out;
    for (auto& [key, sum] : sums_) out.push_back(sum);
    std::stable_sort(out.begin(), out.end(), [](const PathSum& a, const PathSum& b) { return a.time > b.time; });
    return out;
  }

 private:
  void add(HeldBy by, int cause, SliceId slice, Ns time) {
    if (time == 0) return;
    const StringId name = slice ? trace_.name_id(slice) : StringId{};
    PathSum& sum = sums_[{by, cause, name}];
    sum.by = by;
    if (cause >= 0) sum.cause = static_cast<IdleCause>(cause);
    sum.name = name;
    add_saturating(sum.time, time);
    ++sum.stretches;
  }

  const Trace& trace_;
  const SpanSet& removed_;
  const bool is_plain_;
  HostReader reader_;
  std::map<Key, PathSum> sums_;
};

}  // namespace

std::vector<PathSum> path_sums(const Trace& trace, const HostTime& host, const Change& change,
                               const std::vector<PathStretch>& path) {
  Sums sums(trace, host, change);
  for (const PathStretch& s : path) sums.add(s);
  return sums.take();
}

std::array<Ns, kHeldBy> held_times(const std::vector<PathStretch>& path) {
  std::array<Ns, kHeldBy> out{};
  for (const PathStretch& s : path) add_saturating(out[static_cast<std::size_t>(s.by)], s.span.length());
  return out;
}

}  // namespace gapscope
