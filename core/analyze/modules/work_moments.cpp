#include "core/analyze/modules/work_moments.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gapscope {
namespace {

constexpr std::string_view kArrowCategory = "fwdbwd";

// An arrow from forward to backward, by the thread and time at which it arrives.
struct Arrival {
  LaneId lane;
  Ns time;
  SliceId from;
  bool before(LaneId other_lane, Ns other_time) const { return std::tuple(lane, time) < std::tuple(other_lane, other_time); }
};

class Arrivals {
 public:
  explicit Arrivals(const Trace& trace) {
    for (const Flow& flow : trace.flows)
      if (trace.kind(flow.to) == Kind::op && trace.strings[flow.category] == kArrowCategory)
        all_.push_back({trace.lane_id(flow.to), trace.begin(flow.to), flow.from});
    std::stable_sort(all_.begin(), all_.end(), [](const Arrival& a, const Arrival& b) { return a.before(b.lane, b.time); });
  }

  // The first one that arrives exactly there.
  const Arrival* at(LaneId lane, Ns time) const {
    const auto found = std::partition_point(all_.begin(), all_.end(), [&](const Arrival& a) { return a.before(lane, time); });
    return found != all_.end() && found->lane == lane && found->time == time ? &*found : nullptr;
  }

  // The operators at whose begin one arrives.
  std::vector<SliceId> operators(const Trace& trace) const {
    std::vector<SliceId> found;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (i == 0 || all_[i].lane != all_[i - 1].lane) add_operators(trace, all_[i].lane, found);
    return found;
  }

 private:
  void add_operators(const Trace& trace, LaneId lane, std::vector<SliceId>& found) const {
    const std::size_t first = trace.lane(lane).first_slice;
    for (std::size_t s = first; s < first + trace.lane(lane).slice_count; ++s)
      if (trace.kind(SliceId(s)) == Kind::op && at(lane, trace.slices.begin[s]) != nullptr) found.push_back(SliceId(s));
  }

  std::vector<Arrival> all_;
};

// Follows the arrows of those that have no frame around them.
void follow_arrows(const Trace& trace, std::vector<WorkMoment>& all) {
  const Arrivals arrivals(trace);
  const NestedSlices ops(trace, arrivals.operators(trace));
  if (ops.size() == 0) return;
  std::vector<Moment> moments;
  moments.reserve(all.size());
  for (const WorkMoment& w : all) moments.push_back(w.at);
  const std::vector<std::uint32_t> around = ops.innermost(moments);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].frame != NestedSlices::kNone || around[i] == NestedSlices::kNone) continue;
    const Arrival* arrival = arrivals.at(all[i].at.lane, trace.begin(ops[around[i]]));
    all[i] = {{trace.lane_id(arrival->from), trace.begin(arrival->from)}, true, NestedSlices::kNone};
  }
}

void find_frames(const NestedSlices& frames, std::vector<WorkMoment>& all) {
  std::vector<Moment> moments;
  moments.reserve(all.size());
  for (const WorkMoment& w : all) moments.push_back(w.at);
  const std::vector<std::uint32_t> around = frames.innermost(moments);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].frame = around[i];
}

}  // namespace

std::vector<WorkMoment> work_moments(const Trace& trace, const NestedSlices& frames, const std::vector<SliceId>& launches) {
  std::vector<Moment> moments;
  moments.reserve(launches.size());
  for (const SliceId launch : launches) moments.push_back({trace.lane_id(launch), trace.begin(launch)});
  return work_moments(trace, frames, moments);
}

std::vector<WorkMoment> work_moments(const Trace& trace, const NestedSlices& frames, const std::vector<Moment>& moments) {
  std::vector<WorkMoment> all;
  all.reserve(moments.size());
  for (const Moment& moment : moments) all.push_back({moment, false, NestedSlices::kNone});
  find_frames(frames, all);
  follow_arrows(trace, all);
  find_frames(frames, all);
  return all;
}

std::vector<SliceId> work_of_frames(const Trace& trace, const std::vector<GpuOp>& ops, std::vector<SliceId> frames) {
  const NestedSlices nested(trace, std::move(frames));
  std::vector<SliceId> launches, work;
  for (const GpuOp& op : ops)
    if (op.linked()) launches.push_back(op.launch);
  const std::vector<WorkMoment> moments = work_moments(trace, nested, launches);
  std::size_t at = 0;
  for (const GpuOp& op : ops)
    if (op.linked() && moments[at++].frame != NestedSlices::kNone) work.push_back(op.slice);
  return work;
}

}  // namespace gapscope
