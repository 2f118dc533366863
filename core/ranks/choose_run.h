#pragma once
// Which of many files are the ranks of one run. What is left out is named with its reason.
#include <string>
#include <vector>

#include "core/ranks/rank_data.h"

namespace gapscope {

struct Run {
  std::vector<RankData> ranks;                   // of one run, ascending, no rank twice
  std::int64_t world_size = 0;                   // as most of them state it; 0 where none does
  std::vector<std::int64_t> missing;             // ranks of 0 .. world_size - 1 without a file
  std::vector<std::string> problems;             // sentences
  std::vector<std::vector<std::string>> others;  // files of other recordings among them, which are left out, a recording each
  bool all_used = true;                          // every file, whole, and no rank missing
};

// `files`: in any order; `errors`: of files that did not open.
Run choose_run(std::vector<RankData> files, const std::vector<std::string>& errors);

// Adds what is to be known of each rank to the problems: after its collectives were matched.
void judge_ranks(Run& run);

// "3, 7, 12 and 40 more".
std::string list_of(const std::vector<std::int64_t>& numbers);

}  // namespace gapscope
