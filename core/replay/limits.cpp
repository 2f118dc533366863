#include "core/replay/limits.h"

#include <fmt/format.h>

namespace gapscope {
namespace {

constexpr double kLeastTold = 0.01;

}  // namespace

std::string replay_limits(double profiler) {
  std::string out =
      "The replay knows when each call was made and each operation ran, not which data it needs: what would have to wait for "
      "data is not held back. Caches, clocks and the profiler's own cost stay as recorded";
  if (profiler >= kLeastTold) out += fmt::format(": that may be up to {:.0f} % of the run", 100 * profiler);
  return out + ".";
}

}  // namespace gapscope
