#pragma once
// What replaying a rank with the others needs when its trace is let go.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/replay/replay.h"

namespace gapscope {

struct FullRank;
struct RankData;  // core/ranks/rank_data.h

// What is different in a run. The words of a list are those of core/replay/changes.h and
//   on R     what follows is of rank R alone; before that, of every rank
//   rank R   no collective waits for rank R: what makes it the last to come takes no time
//   link N   links move N GB/s, of 2^30 bytes, of the bus bandwidth that `gapscope ranks` prints
struct RunChange {
  struct OfRanks {
    std::int64_t rank = -1;  // alone; -1: all
    std::string text;
  };
  std::vector<OfRanks> changes;
  std::vector<std::int64_t> never_late;  // ranks
  double link = 0;                       // 0: as fast as they were

  bool empty() const { return changes.empty() && never_late.empty() && link == 0; }
};
Result<RunChange> read_run_change(const std::vector<std::string>& list);

struct RankReplay {
  std::shared_ptr<const ReplayModel> model;
  Change change;
  std::vector<std::uint32_t> op_of;     // by RankData::collectives: position in ReplayModel::ops()
  std::vector<std::uint32_t> after;     // StreamJoins::after
  std::vector<std::string> step_names;  // by ReplayModel::steps()
  // By RunChange::changes: why it is none of this rank's, or empty; such a change is left out.
  std::vector<std::string> troubles;
};

// `data`: reduce_rank() of it.
std::shared_ptr<const RankReplay> rank_replay(const FullRank& rank, const RankData& data, const RunChange& change);

// Which operation of another queue each one waits for, in a recording with collectives: an operation that begins at most 10 us
// after a collective of another queue of its device ended, and could have begun sooner by its own queue and call, waited for
// it; so did a collective for work of other queues. `collectives`: positions in ReplayModel::ops().
std::vector<std::uint32_t> stream_waits(const ReplayModel& model, const std::vector<std::uint32_t>& collectives);

}  // namespace gapscope
