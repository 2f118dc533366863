#include "core/trace/doubt.h"

#include <algorithm>
#include <array>

namespace gapscope {

std::string_view doubt_word(DoubtKind kind) {
  constexpr std::array<std::string_view, 8> kWords = {"clock_offset", "missing_times",      "impossible_durations",
                                                      "lost_kernels", "several_recordings", "several_ranks",
                                                      "device_waits", "no_device_ids"};
  return kWords[static_cast<std::size_t>(kind)];
}

const Doubt* find_doubt(const std::vector<Doubt>& doubts, DoubtKind kind) {
  const auto at = std::find_if(doubts.begin(), doubts.end(), [&](const Doubt& d) { return d.kind == kind; });
  return at == doubts.end() ? nullptr : &*at;
}

}  // namespace gapscope
