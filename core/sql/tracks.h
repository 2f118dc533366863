#pragma once
// Tracks, threads and processes as Perfetto's tables number them: in the order in which they first appear in time. Numbers 0 of
// threads and processes stay unused, as Perfetto keeps them for the idle thread.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/sql/slice_order.h"
#include "core/trace/trace.h"

namespace gapscope::sql {

enum class TrackKind : std::uint8_t { thread, process_async, global_instants, counter };

struct Track {
  TrackKind kind{};
  LaneId lane;                // thread, process_async
  std::uint32_t counter = 0;  // position in Trace::counters
  std::uint32_t utid = 0;     // 0: none
  std::uint32_t upid = 0;
};

class Tracks {
 public:
  Tracks(const Trace& trace, const SliceOrder& order);

  const std::vector<Track>& tracks() const { return tracks_; }            // by track id
  const std::vector<LaneId>& threads() const { return threads_; }         // by utid - 1
  const std::vector<ProcessId>& processes() const { return processes_; }  // by upid - 1
  std::uint32_t of_lane(LaneId lane) const { return track_of_lane_[lane.index()]; }
  std::uint32_t of_counter(std::size_t counter) const { return track_of_counter_[counter]; }
  // Of a row of `slice`: its lane's track, or the one of instants that belong to no thread.
  std::uint32_t of_row(const SliceOrder& order, SliceRow row) const {
    const LaneId lane = order.lane(row);
    return lane ? of_lane(lane) : global_;
  }
  std::uint32_t utid(LaneId lane) const { return tracks_[of_lane(lane)].utid; }
  std::uint32_t upid(ProcessId process) const { return upid_of_process_[process.index()]; }
  std::uint32_t global_instants() const { return global_; }

 private:
  void number_processes(const Trace& trace);

  std::vector<Track> tracks_;
  std::vector<LaneId> threads_;
  std::vector<ProcessId> processes_;
  std::vector<std::uint32_t> track_of_lane_, track_of_counter_, upid_of_process_;
  std::uint32_t global_ = 0;
};

// The number that a "pid" or "tid" is; nothing where it is a word.
std::optional<std::int64_t> number_of_key(std::string_view key);

}  // namespace gapscope::sql
