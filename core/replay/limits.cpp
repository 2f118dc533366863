#include "core/replay/limits.h"

#include <fmt/format.h>

namespace gapscope {
namespace {

constexpr double kLeastTold = 0.01;

}  // namespace

const char* const kNoRemedyToReplay = "No finding's remedy can be replayed.";
const char* const kNothingToReplay =
    "No GPU work is in this trace, or it is over a hundred days long, so there is nothing to replay.";

std::string replay_limits(double profiler, std::uint32_t clocks) {
  std::string out =
      "The replay knows when each call was made and each operation ran, not which data it needs: what would have to wait for "
      "data is not held back. Caches, clocks and the profiler's own cost stay as recorded";
  if (profiler >= kLeastTold) out += fmt::format(": that may be up to {:.0f} % of the run", 100 * profiler);
  out += ".";
  if (clocks > 0)
    out += fmt::format(
        " Threads of one process make calls at the same time: {} have clocks of their own, and one that stood still while "
        "another "
        "worked is taken to have waited for it.",
        clocks);
  return out;
}

}  // namespace gapscope
