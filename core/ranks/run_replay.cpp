#include "core/ranks/run_replay.h"

#include <algorithm>

#include "core/base/saturating.h"
#include "core/ranks/run_player.h"
#include "core/ranks/run_report.h"

namespace gapscope {
namespace {

constexpr double kLeastLate = 0.03;  // of the others' time, as of a straggler

}  // namespace

bool RunReplay::is_late() const {
  Ns others = 0;
  for (std::uint32_t r = 0; r < ranks.size(); ++r)
    if (r != late) add_saturating(others, ranks[r].after);
  return others > 0 && static_cast<double>(late_cost) >= kLeastLate * static_cast<double>(others);
}

bool can_replay(const RunReport& report) {
  const auto& ranks = report.run.ranks;
  return ranks.size() > 1 && std::all_of(ranks.begin(), ranks.end(), [](const RankData& r) { return r.replay != nullptr; });
}

RunReplay replay_run(const RunReport& report, const RunChange& change, const std::atomic<bool>* cancel) {
  if (!can_replay(report)) return {};
  RunPlayer player(report, change, cancel);
  return player.play() ? player.result() : RunReplay{};
}

}  // namespace gapscope
