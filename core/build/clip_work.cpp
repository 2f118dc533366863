#include "core/build/clip_work.h"

#include <algorithm>
#include <map>

#include "core/trace/kind.h"

namespace gapscope {
namespace {

// Recordings have no work of a stream within other work of it, but rounded to microseconds, and where nodes of a graph run
// side by side.
constexpr Ns kOverrunOfOne = 100 * kNsPerUs, kOverrunOfMany = 20 * kNsPerUs, kOverrunOfGraphs = kNsPerMs;
constexpr std::size_t kMany = 2, kManyOfGraphs = 64, kLookedAt = 256;

// Where the work at `i`, of one stream by begin, is to be cut off: at the begin of the next; its own end where that may be
// right.
Ns right_end(const std::vector<std::uint32_t>& work, std::size_t i, std::span<const Ns> begin, std::span<const Ns> end,
             bool has_graphs) {
  const std::uint32_t m = work[i];
  std::size_t next = i + 1;
  while (next < work.size() && begin[work[next]] == begin[m]) ++next;
  if (next >= work.size() || end[m] <= begin[work[next]]) return end[m];
  std::size_t within = 0;
  for (std::size_t j = next; j < std::min(work.size(), next + kLookedAt) && begin[work[j]] < end[m]; ++j)
    within += end[work[j]] <= end[m] ? 1U : 0U;
  const Ns overrun = end[m] - begin[work[next]];
  const bool is_wrong = has_graphs
                            ? within >= kManyOfGraphs && overrun >= kOverrunOfGraphs
                            : (within >= 1 && overrun >= kOverrunOfOne) || (within >= kMany && overrun >= kOverrunOfMany);
  return is_wrong ? begin[work[next]] : end[m];
}

bool is_work(std::uint8_t kind) { return is_gpu_work(static_cast<Kind>(kind)); }

}  // namespace

bool lasts_past_other_work(std::span<const std::uint32_t> members, std::span<const Ns> begin, std::span<const Ns> end,
                           std::span<const std::uint8_t> kinds, bool has_graphs) {
  std::vector<std::uint32_t> work;
  for (const std::uint32_t m : members)
    if (is_work(kinds[m])) work.push_back(m);
  for (std::size_t i = 0; i < work.size(); ++i)
    if (right_end(work, i, begin, end, has_graphs) != end[work[i]]) return true;
  return false;
}

std::vector<std::uint32_t> clip_work(std::span<const std::uint32_t> members, std::span<const Ns> begin, std::span<Ns> end,
                                     std::span<const std::uint8_t> kinds, bool has_graphs,
                                     std::span<const std::int32_t> stream) {
  std::map<std::int32_t, std::vector<std::uint32_t>> streams;
  for (const std::uint32_t m : members)
    if (is_work(kinds[m])) streams[stream[m]].push_back(m);
  std::vector<std::uint32_t> clipped;
  for (const auto& [number, work] : streams)
    for (std::size_t i = 0; i < work.size(); ++i)
      if (const Ns right = right_end(work, i, begin, end, has_graphs); right != end[work[i]]) {
        end[work[i]] = right;
        clipped.push_back(work[i]);
      }
  return clipped;
}

}  // namespace gapscope
