#pragma once
// Which threads of the host share a clock, and where a clock waits for another (GAIN.md, "Threads that run at the same time").
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/base/span_set.h"
#include "core/replay/replay.h"

namespace gapscope {

class ThreadClocks {
 public:
  // `calls`: slices of calls in the order they begin. O(calls), where threads run at the same time also their operators.
  ThreadClocks(const Trace& trace, const std::vector<SliceId>& calls);

  // The clock of a thread. Of one that makes no call: that of its process in which most are made.
  std::uint32_t of(LaneId lane);
  std::uint32_t count() const { return count_; }
  // Clocks of processes that have more than one; 0: all threads take turns.
  std::uint32_t at_once() const { return at_once_; }
  // In the order in which the clocks continue.
  const std::vector<ReplayModel::Join>& joins() const { return joins_; }

 private:
  struct Thread {
    LaneId lane;
    std::uint32_t calls = 0;
    std::uint32_t clock = ReplayModel::kNone;
  };
  struct Host {  // a process
    std::vector<Thread> threads;
    std::vector<SliceId> calls;                           // in the order they begin
    std::uint32_t first_clock = 0, clocks = 0, main = 0;  // the clock in which most calls are made
  };
  using Counts = std::vector<std::uint32_t>;  // by thread and thread of a process

  void gather(const std::vector<SliceId>& calls);
  Counts calls_during(const Host& host) const;
  void share(Host& host, const Counts& during);
  std::vector<SpanSet> busy_times(const Host& host) const;
  void find_joins(const Host& host);
  std::vector<std::uint32_t> waited_for(const Host& host, const std::vector<SpanSet>& busy, std::uint32_t clock,
                                        Span stood) const;

  const Trace& trace_;
  std::vector<Host> hosts_;
  std::unordered_map<std::uint32_t, std::uint32_t> host_of_process_;
  std::vector<std::uint32_t> thread_of_lane_;  // position in Host::threads
  std::uint32_t count_ = 0, at_once_ = 0;
  std::vector<ReplayModel::Join> joins_;
};

}  // namespace gapscope
