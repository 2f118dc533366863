#pragma once
// How far a recording can be trusted: what is missing from it or was changed by how it was made, and what that means for the
// verdict. Said first wherever something is said about the run.
#include <cstdint>
#include <string>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/analyze/gpu/gpu_ops.h"
#include "core/trace/trace.h"

namespace gapscope {

class TraceSession;

struct Trust {
  bool cut_off = false;                                 // the file ends in the middle
  bool launch_blocked = false;                          // launches waited for their kernels, as with CUDA_LAUNCH_BLOCKING=1
  bool sums_end = false;                                // durations or sizes are too large to be added up
  std::uint64_t lost_events = 0;                        // could not be read
  bool loses_much = false;                              // enough of them to matter to the verdict
  std::uint64_t gpu_work = 0;                           // kernels, copies and memsets
  std::uint64_t unlinked = 0;                           // of these, without a launch in the file
  std::uint64_t long_kernels = 0, blocked_kernels = 0;  // linked ones long enough to tell; those that ended before their launch

  Ns unexplained = 0;  // of the busiest GPU's window: idle time before unlinked work
  Ns window = 0;
  bool verdict_stands = false;  // whatever the unexplained time was
  std::vector<Doubt> doubts;    // doubts_of()
};

// Of the linked kernels that are long enough to tell (those of CUDA graphs apart) the launches that returned only when their
// kernel had ended. `ops`: gpu_ops() of the trace.
constexpr Ns kLeastTellingKernel = 20 * kNsPerUs;
struct BlockedLaunches {
  std::vector<SliceId> launches;
  std::uint64_t kernels = 0;

  bool are_all() const;  // nearly, and enough of them: as with CUDA_LAUNCH_BLOCKING=1
};
BlockedLaunches blocked_launches(const Trace& trace, const std::vector<GpuOp>& ops);

Trust trust_of(const Trace& trace, const std::vector<GpuOp>& ops, const TimeAccount& account);
// For trust_text() alone: the account, which takes a tenth of a load, is asked for only where some work has no launch. Else
// `window` is 0.
Trust trust_of(const TraceSession& session);
// What is said of doubts, one line of sentences; empty where nothing is to be said. trust_text() has them, too.
std::string doubts_text(const std::vector<Doubt>& doubts);
std::string trust_text(const Trust& trust);

}  // namespace gapscope
