#include "core/sql/tracks.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>
#include <utility>

namespace gapscope::sql {
namespace {

constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();

struct Draft {
  Ns time = std::numeric_limits<Ns>::max();
  std::uint32_t id = kLast;  // of the first row on it
  Track track;
};

// `row` is on the track.
void meet(Draft& draft, const SliceOrder& order, SliceRow row) {
  const std::pair met(order.begin(row), order.id(row));
  if (met < std::pair(draft.time, draft.id)) std::tie(draft.time, draft.id) = met;
}

Draft draft_of(const Trace& trace, const SliceOrder& order, LaneId id) {
  const Lane& lane = trace.lane(id);
  Draft draft;
  draft.track.kind = lane.is_async ? TrackKind::process_async : TrackKind::thread;
  draft.track.lane = id;
  if (lane.slice_count > 0) meet(draft, order, lane.first_slice);
  if (lane.instant_count > 0) meet(draft, order, order.row_of_instant(lane.first_instant));
  return draft;
}

}  // namespace

Tracks::Tracks(const Trace& trace, const SliceOrder& order)
    : track_of_lane_(trace.lanes.size()), track_of_counter_(trace.counters.size()), upid_of_process_(trace.processes.size()) {
  std::vector<Draft> drafts;
  for (std::size_t l = 0; l < trace.lanes.size(); ++l) drafts.push_back(draft_of(trace, order, LaneId(l)));
  Draft global;
  global.track.kind = TrackKind::global_instants;
  for (std::size_t i = 0; i < trace.instants.size(); ++i)
    if (!trace.instants[i].lane) meet(global, order, order.row_of_instant(i));
  if (global.id != kLast) drafts.push_back(global);
  for (std::uint32_t c = 0; c < trace.counters.size(); ++c) {
    Draft draft;
    draft.track.kind = TrackKind::counter;
    draft.track.counter = c;
    if (!trace.counters[c].samples.empty()) draft.time = trace.counters[c].samples.front().time;
    drafts.push_back(draft);
  }
  std::stable_sort(drafts.begin(), drafts.end(),
                   [](const Draft& a, const Draft& b) { return std::pair(a.time, a.id) < std::pair(b.time, b.id); });
  for (const Draft& draft : drafts) tracks_.push_back(draft.track);
  number_processes(trace);
}

void Tracks::number_processes(const Trace& trace) {
  for (std::uint32_t id = 0; id < tracks_.size(); ++id) {
    Track& track = tracks_[id];
    if (track.kind == TrackKind::global_instants) {
      global_ = id;
      continue;
    }
    const ProcessId process =
        track.kind == TrackKind::counter ? trace.counters[track.counter].process : trace.lane(track.lane).process;
    std::uint32_t& upid = upid_of_process_[process.index()];
    if (upid == 0) {
      processes_.push_back(process);
      upid = static_cast<std::uint32_t>(processes_.size());
    }
    track.upid = upid;
    if (track.kind == TrackKind::counter) {
      track_of_counter_[track.counter] = id;
      continue;
    }
    track_of_lane_[track.lane.index()] = id;
    if (track.kind != TrackKind::thread) continue;
    threads_.push_back(track.lane);
    track.utid = static_cast<std::uint32_t>(threads_.size());
  }
}

std::optional<std::int64_t> number_of_key(std::string_view key) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  return error == std::errc() && end == key.data() + key.size() && !key.empty() ? std::optional(number) : std::nullopt;
}

}  // namespace gapscope::sql
