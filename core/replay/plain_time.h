#pragma once
// How the host's time passes without the profiler: each stretch between two neighboring records, less what the records at its
// ends cost while they were recorded (PLAIN.md of this folder). Integer nanoseconds of the trace.
#include <cstdint>
#include <memory>
#include <vector>

#include "core/replay/replay.h"
#include "core/trace/trace.h"

namespace gapscope {

// Made once a trace, in O(records); keeps no reference to what it was made of.
class PlainTime {
 public:
  // `model`: of the trace.
  PlainTime(const Trace& trace, const ReplayModel& model);

  bool has_operators() const { return has_operators_; }  // else it is no recording of PyTorch's profiler
  bool has_stacks() const { return has_stacks_; }
  bool has_shapes() const { return has_shapes_; }

  struct Knot {
    Ns old;      // of the trace
    Ns shrinks;  // the host's time up to there that a PlainPace scales
    Ns stays;    // and that it does not: stretches without records, and what is around all records
  };
  const std::vector<Knot>& knots() const { return knots_; }  // by time
  // What of its gap an operation keeps, by position in ReplayModel::ops(). Empty: all of it.
  const std::vector<Ns>& gaps() const { return gaps_; }

 private:
  void walk(const Trace& trace, const ReplayModel& model);

  std::vector<Knot> knots_;
  std::vector<Ns> gaps_;
  bool has_operators_ = false, has_stacks_ = false, has_shapes_ = false;
};

// The same with one number more: how much of the estimated time of the host it takes.
class PlainPace {
 public:
  PlainPace(std::shared_ptr<const PlainTime> time, double share) : time_(std::move(time)), share_(share) {}

  double share() const { return share_; }
  // The plain time of `t` of the trace. `hint`: where the last question of the caller was answered; 0 at first.
  Ns at(Ns t, std::size_t& hint) const;
  Ns at(Ns t) const {
    std::size_t hint = 0;
    return at(t, hint);
  }
  Ns gap(std::uint32_t op, Ns recorded) const { return time_->gaps().empty() ? recorded : time_->gaps()[op]; }
  // What a call that waited takes to return.
  Ns returned(Ns recorded) const;

 private:
  std::shared_ptr<const PlainTime> time_;
  double share_;
};

}  // namespace gapscope
