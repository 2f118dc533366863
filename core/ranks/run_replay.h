#pragma once
// All ranks of a run replayed together: a collective begins when the last rank comes. Where it ends is as far from there as it
// was, on each rank; what follows it, on its own stream or another, waits for that.
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "core/ranks/rank_replay.h"
#include "core/ranks/waits.h"

namespace gapscope {

struct RunReport;

struct RunStep {
  std::string name;
  Ns before = 0, after = 0;
};
struct ReplayedRank {
  Ns before = 0, after = 0;                // length of its run
  std::vector<RunStep> steps;              // by ReplayModel::steps()
  double busy_before = 0, busy_after = 0;  // of its busiest GPU, 0..1 of its run
  Ns waits_less = 0;                       // by so much its host waits less for the GPU
};
struct RunReplay {
  Ns before = 0, after = 0;         // from the first rank's begin to the last one's end, on the axis of the ranks
  std::vector<ReplayedRank> ranks;  // by position in the run
  std::vector<RunStep> steps;       // by name, in order of time: of each the longest that a rank has
  // Who then comes last, and what the others wait for it that they would not have waited without it, all together.
  std::uint32_t late = 0;
  Ns late_cost = 0;
  // Whether that is enough to call it late: as much as `gapscope ranks` asks for.
  bool is_late() const;

  Ns gain() const { return before - after; }
  double share() const { return before > 0 ? static_cast<double>(gain()) / static_cast<double>(before) : 0; }
};

// Whether there is what replaying needs: two ranks or more, each with RankData::replay.
bool can_replay(const RunReport& report);
// With what RankReplay::change has of each rank, and with `change` of all; its list is not read here. Linear in calls and
// operations; the same each time.
RunReplay replay_run(const RunReport& report, const RunChange& change = {}, const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
