#pragma once
// When the host comes where, as a change has it: its old time, less what the change takes off before it, plus what waits have
// added or saved so far.
#include <cstdint>
#include <vector>

#include "core/replay/replay.h"

namespace gapscope {

// What a wait takes that has nothing to wait for, at most.
constexpr Ns kShortestWait = 2 * kNsPerUs;

// A time at `factor` times its length, towards 0.
Ns scaled(Ns t, double factor);

// Refers to both, which must outlive it.
class HostClock {
 public:
  HostClock(const ReplayModel& model, const Change& change);

  // When a call begins, and when a clock shows its old time `t`, by the waits so far.
  Ns at_call(std::uint32_t call) const { return calls_[call] + offset_[model_.calls()[call].clock]; }
  Ns now(std::uint32_t clock, Ns t) const;
  // When its clock shows a call's old end, likewise.
  Ns at_end_of(std::uint32_t call) const;
  // From its old time `old` on the clock continues at `at`.
  void set(std::uint32_t clock, Ns old, Ns at) { set(clock, old, at, bare(old)); }
  void set_end_of(std::uint32_t call, Ns at);
  // All clocks are so much earlier from their old time `old` on.
  void come_sooner(Ns old, Ns by);
  // When, all calls being done, its old time `t` was: by the last wait that ended before.
  Ns after(std::uint32_t clock, Ns t) const;

 private:
  Ns paced(Ns t) const;  // without the profiler, where that is asked for
  // `begun`: how many of the removed stretches begin at `t` or before.
  Ns without_removed(Ns t, std::size_t begun) const;
  Ns bare(Ns t) const { return plain_ ? t : bare(t, begun_at(t)); }  // as if nothing waited
  Ns bare(Ns t, std::size_t begun) const;
  std::size_t begun_at(Ns t) const;
  Ns bare_end(std::uint32_t call) const;
  void set(std::uint32_t clock, Ns old, Ns at, Ns bare_old);

  struct Jump {
    Ns old, offset;
  };
  const ReplayModel& model_;
  const SpanSet& removed_;
  std::vector<Ns> removed_before_;  // each of these, in all
  const double pace_;
  const PlainPace* const plain_pace_;  // null: as recorded
  const bool plain_;                   // no host time is taken away
  mutable std::size_t hint_ = 0;       // of plain_pace_
  Ns origin_ = 0;                      // the run's begin, where the pace starts
  std::vector<Ns> calls_;              // their begins, as if nothing waited
  std::vector<std::uint32_t> begun_;   // by call: of the removed stretches those that begin at its begin or before
  std::vector<Ns> offset_;             // by clock
  std::vector<std::vector<Jump>> jumps_;
};

}  // namespace gapscope
