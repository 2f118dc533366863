#pragma once
// A recording reduced to what many ranks together are judged by.
#include <memory>
#include <string>

#include "core/analyze/account/time_account.h"
#include "core/base/result.h"
#include "core/ranks/rank_data.h"
#include "core/session/trace_session.h"

namespace gapscope {

// A whole rank: what is held of few at once.
struct FullRank {
  std::unique_ptr<const TraceSession> session;
  std::int32_t device = -1;  // see RankData
};

// `threads`: 0: as many as the machine has.
Result<FullRank> open_rank(const std::string& path, int threads, const Stated& stated = {});
FullRank full_rank(std::shared_ptr<const Trace> trace, int threads = 1);
RankData reduce_rank(const FullRank& rank);

// The rank in a file's name, or else in its folder's: "rank0", "rank-0.", "RANK_12", "TP-3-DP-1": then that of TP; -1 where
// neither has one.
std::int64_t rank_from_name(const std::string& path);
// In its header, its name or what Ascend's profiler wrote next to it.
bool says_its_rank(const std::string& path);

}  // namespace gapscope
