#pragma once
// What is kept of one rank's recording when the whole of it is let go: its collectives, steps and accounts. About 60 bytes a
// collective; nothing of it refers to the trace. Times are nanoseconds of the file; `base` makes them times of that rank's
// clock.
#include <cstdint>
#include <string>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/base/span_set.h"
#include "core/ranks/collective.h"
#include "core/ranks/rank_rows.h"

namespace gapscope {

constexpr std::uint32_t kNoStep = 0xFFFF'FFFFu;

// One kernel that says which collective it is.
struct RankCollective {
  Span span;
  std::int64_t seq = -1;         // "Seq"; -1 where not recorded
  std::uint32_t what = 0;        // position in RankData::whats
  std::uint32_t step = kNoStep;  // position in RankData::steps: where it was launched
  std::int32_t stream = -1;
  std::uint32_t order = 0;  // place among the rank's collectives as the file has them
};

struct RankStep {
  std::string name;  // "ProfilerStep#5"
  Span span;
  AccountTimes account;  // of the rank's device
};

// A stretch with a name, of which a rank that does it alone makes the others wait.
struct HostEvents {
  std::uint64_t count = 0;
  Ns time = 0;  // of their union
  std::string first;
};

struct RankData {
  std::string file;
  std::int64_t rank = -1;       // -1: not stated in the file
  std::int64_t world_size = 0;  // 0: not stated
  Ns base = 0;                  // baseTimeNanoseconds; 0 where absent
  bool has_base = false;
  Span span;             // of the recording
  bool cut_off = false;  // the file ends in the middle
  std::uint64_t file_bytes = 0;

  std::int32_t device = -1;     // the GPU accounted for: that of its collectives, else the busiest; -1: none
  std::uint32_t devices = 0;    // GPUs that it worked on
  std::uint32_t host_gpus = 0;  // that it could see
  AccountTimes account;
  Span window;
  SpanSet exposed_communication;  // within the window
  std::vector<RankStep> steps;    // empty where nothing marks steps

  std::vector<CollectiveWhat> whats;
  std::vector<RankCollective> collectives;  // in order of begin
  std::uint64_t unnamed = 0;                // communication kernels that do not say which collective they are
  Ns unnamed_time = 0;
  std::string unnamed_example;  // the name of the first of them
  Ns communication_time = 0;    // sum over all of its communication kernels

  // What its compute kernels would take undisturbed: of each name and grid the shortest, times how many there are. Kernels run
  // longer beside a collective that waits, so their plain sum is longer on the rank that waits.
  Ns compute_work = 0;

  RankRows rows;  // empty unless asked for; not sent to other processes

  HostEvents compiling, collecting;  // Dynamo, Inductor and their like; Python's garbage collector
};

}  // namespace gapscope
