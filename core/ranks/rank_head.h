#pragma once
// Which rank a file is of, from its beginning alone: for deciding what several files are, before any of them is read.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

inline constexpr std::int64_t kMostRanks = 1'000'000'000;  // what is more is no number of a rank

struct RankHead {
  std::int64_t rank = -1;        // -1: not stated
  std::int64_t world_size = -1;  // likewise
};

// Of the text of "distributedInfo"; also where that was cut.
RankHead rank_head(std::string_view distributed_info);

// Reads at most 256 KiB; nothing stated where the file does not open, or where "distributedInfo" is after the events.
RankHead read_rank_head(const std::string& path);

// Of a trace in a folder ASCEND_PROFILER_OUTPUT, by the name of the profiler_info_N.json above it; -1 where there is none.
std::int64_t rank_of_ascend(const std::string& path);

// Of files, one or more, the one that says that it is the lowest rank; the first where none says it.
const std::string& lowest_rank(const std::vector<std::string>& files);

// Several files that are opened together: ranks of one run where there are three or more, or where two say that they are
// different ranks of one world. Else the second is to be compared with the first.
bool are_ranks_of_a_run(const std::vector<std::string>& paths);

}  // namespace gapscope
