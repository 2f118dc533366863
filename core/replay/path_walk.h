#pragma once
// Backwards through a replayed recording, each time to what was waited for: what critical_path() is made of, and the path of a
// run of several ranks, which goes from one recording to another where a collective waited (core/ranks/run_path.h).
#include <cstdint>
#include <span>
#include <vector>

#include "core/replay/host_walk.h"
#include "core/replay/path.h"

namespace gapscope {

// Refers to what it is made of.
class PathWalk {
 public:
  // `after`: StreamJoins::after of the replay (core/replay/player.h).
  PathWalk(const ReplayModel& model, const Change& change, const ReplayResult& result,
           std::span<const std::uint32_t> after = {});

  // To the end of the run, or to a time at which `op` runs.
  void go_to_end();
  void go_to(std::uint32_t op, Ns t) { op_ = op, call_ = kNone, at_ = t; }
  // Where the walk is, and the operation that it has come to the end of, or ReplayModel::kNone.
  Ns at() const { return at_; }
  std::uint32_t op() const { return op_; }
  // To what was waited for. False: nothing more is known of what comes before.
  bool step();
  // The stretch from `from`, or the run's begin, to where the walk is.
  void add(Ns from, HeldBy by, SliceId slice, Span old);
  // What was walked through since the last take, backwards.
  std::vector<PathStretch> take();

 private:
  static constexpr std::uint32_t kNone = ReplayModel::kNone;
  // Where an operation could begin by its queue, and the operation that it waited for there.
  struct Queued {
    Ns ready = 0;
    std::uint32_t after = kNone;  // none: the first of its queue
  };

  void find_queued();
  std::uint32_t last_op() const;
  void walk_end();
  void in_call(std::uint32_t call);
  bool waited(std::uint32_t call) const;
  void walk_op();
  void walk_host();
  Queued waited_for(std::uint32_t op) const;
  const ReplayModel::Join* join_before(std::uint32_t call, std::uint32_t before) const;
  std::uint32_t go_to_other(const ReplayModel::Join& join, std::uint32_t call);

  const ReplayModel& model_;
  const Change& change_;
  const ReplayResult& result_;
  const std::span<const std::uint32_t> after_;
  const HostWalk host_;
  std::vector<Queued> queued_;
  Ns at_;
  std::uint32_t op_ = kNone, call_ = kNone;
  std::uint32_t target_ = kNone;  // of a wait that was come to
  std::vector<PathStretch> out_;
};

}  // namespace gapscope
