#include "core/replay/path.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "core/replay/path_walk.h"

namespace gapscope {

std::string_view held_by_key(HeldBy by) {
  constexpr std::array<std::string_view, kHeldBy> kKeys = {"host", "start", "queue", "collective", "wait"};
  return kKeys[static_cast<std::size_t>(by)];
}

std::string_view held_by_words(HeldBy by) {
  constexpr std::array<std::string_view, kHeldBy> kWords = {"the host", "launch latency", "GPU work", "communication",
                                                            "returning from synchronization"};
  return kWords[static_cast<std::size_t>(by)];
}

std::vector<PathStretch> critical_path(const ReplayModel& model, const Change& change, const ReplayResult& result) {
  PathWalk walk(model, change, result);
  walk.go_to_end();
  // Each turn goes to an earlier operation or call; a file whose times contradict each other could go round.
  std::size_t turns = 2 * (model.ops().size() + model.calls().size()) + 2;
  while (turns-- > 0 && walk.step()) {
  }
  walk.add(result.run.begin, HeldBy::host, {}, {});
  std::vector<PathStretch> out = walk.take();
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace gapscope
