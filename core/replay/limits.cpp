#include "core/replay/limits.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/replay/replay.h"

namespace gapscope {
namespace {

constexpr double kLeastTold = 0.01;

}  // namespace

const char* const kNoRemedyToReplay = "No remedy of these findings can be replayed.";
const char* const kNothingToReplay =
    "This trace has no GPU work, or it is over a hundred days long, so there is nothing to replay.";

std::string replay_limits(double profiler, std::uint32_t clocks, bool plain) {
  std::string out = plain ? "A replay does not know which data a call needs, so no call waits for data. Caches and clocks"
                          : "A replay does not know which data a call needs, so no call waits for data. Caches, clocks and the "
                            "profiler's own cost on the host";
  if (profiler >= kLeastTold) out += fmt::format(" (up to {:.0f} % of the run)", 100 * profiler);
  out += " stay as recorded.";
  if (clocks > 0)
    out += fmt::format(
        " {} threads that ran concurrently have their own clocks. A thread that was blocked while another worked counts as "
        "waiting for it.",
        clocks);
  return out;
}

std::size_t waits_between_launches(const ReplayModel& model, const Change& change) {
  if (change.no_wait) return 0;
  std::size_t out = 0;
  for (auto call = model.calls().begin(); const Span& step : model.step_parts()) {
    std::size_t since_launch = 0;
    bool launched = false;
    for (; call != model.calls().end() && call->span.begin < step.end; ++call) {
      if (call->span.begin < step.begin) continue;
      if (call->launches && launched) out += std::exchange(since_launch, 0);
      launched |= call->launches;
      const bool waits = !call->launches || call->waits_for != ReplayModel::kNone;
      if (launched && waits && !std::binary_search(change.freed.begin(), change.freed.end(), call->slice)) ++since_launch;
    }
  }
  return out;
}

std::string once_waits_are_gone(std::size_t waits, std::size_t steps) {
  if (waits == 0) return {};
  if (steps < 2) return fmt::format(", after removing {} inside", counted(waits, "synchronization"));
  const std::size_t each = std::max(std::size_t{1}, (waits + steps / 2) / steps);
  return fmt::format(", after removing {}{} a step", each * steps == waits ? "" : "about ", counted(each, "synchronization"));
}

}  // namespace gapscope
