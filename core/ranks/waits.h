#pragma once
// Who waited for whom. Definitions of TraceLens: the latency of a collective is its shortest duration, a rank's wait the latest
// begin less its own; the bandwidths are those of nccl-tests, with MB = 2^20 bytes and GB = 1024 MB.
#include <cstdint>
#include <string>
#include <vector>

#include "core/ranks/clocks.h"

namespace gapscope {

constexpr std::uint32_t kUnmatched = 0xFFFF'FFFFu;

struct CollectiveNumbers {
  Ns begin = 0;  // the earliest, on the axis
  Ns latest_begin = 0;
  Ns end = 0;  // the latest
  Ns latency = 0;
  Ns end_skew = 0;
  Ns total_wait = 0;                  // sum over ranks
  std::uint32_t last = 0, first = 0;  // positions in the ranks; of equal ones the lowest last, the highest first

  Ns start_skew() const { return latest_begin - begin; }
};

// GB/s; 0 where the size or the latency is not known. `what`: of the first of its members.
double algorithm_bandwidth(const CollectiveNumbers& numbers, const CollectiveWhat& what);
double bus_bandwidth(const CollectiveNumbers& numbers, const CollectiveWhat& what);

// Of one of its ranks, which took part at `on_axis`: how long it waited for the last to come. 0 of a kind where it is not known
// who waits for whom, and of a sender that was gone before.
Ns wait_of(Span on_axis, const CollectiveNumbers& numbers, CollectiveType type);

struct WaitingFor {
  std::uint32_t rank = 0;  // position in the ranks
  Ns time = 0;
};

struct RankNumbers {
  // As TraceLens counts: all-reduce, all-gather, reduce-scatter and even all-to-all.
  Ns total_wait = 0;
  std::uint64_t times_last = 0, times_first = 0;
  // The account's exposed communication, of every kernel: these three add up to it.
  Ns transfer = 0;
  std::vector<WaitingFor> waiting;  // most first
  Ns unsplit = 0;                   // without a partner in another rank, or of a kind where it is not known who waits for whom
  // Of the matched collectives: time with compute meanwhile.
  Ns communication = 0, exposed = 0;

  Ns waiting_total() const;
};

// What one rank cost the others in one step.
struct LateRank {
  std::string step;               // empty where nothing marks steps
  std::uint32_t rank = 0;         // position in the ranks
  Ns lost = 0;                    // what the others waited for it, summed over collectives and ranks
  Ns lost_alone = 0;              // of that, what they would not have waited had it come with the one before it
  Ns exposed = 0;                 // of the others' account: what they waited for it with nothing computed meanwhile
  std::uint64_t collectives = 0;  // in which it came last
  SpanSet meanwhile;              // from the first of the others' coming to its own: times of its own file
};

struct Waits {
  std::vector<CollectiveNumbers> collectives;  // by Matches::all
  std::vector<RankNumbers> ranks;
  std::vector<LateRank> late;                          // in order of time: of each step the rank that cost most
  std::vector<Ns> lost, lost_alone;                    // by rank: what all others waited for it, as in LateRank
  std::uint64_t skewed = 0;                            // collectives that RankNumbers::times_last counts
  std::vector<std::vector<std::uint32_t>> matched_of;  // by rank and collective: position in Matches::all, or kUnmatched
  Ns start = 0;                                        // of the first rank's recording, on the axis
};

Waits count_waits(const std::vector<RankData>& ranks, const Matches& matches, const Clocks& clocks);

}  // namespace gapscope
