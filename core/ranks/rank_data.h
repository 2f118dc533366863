#pragma once
// What stays of one rank's recording when the whole of it is let go: its collectives, steps and accounts. With what is made
// of all ranks together at most 100 bytes a collective (bench_ranks); nothing of it refers to the trace. Times are nanoseconds
// of the file; `base` makes them times of that rank's clock.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/base/packed_spans.h"
#include "core/ranks/collective.h"
#include "core/ranks/rank_replay.h"
#include "core/ranks/rank_rows.h"

namespace gapscope {

constexpr std::uint32_t kNoStep = 0xFFFF'FFFFu;

// One kernel that says which collective it is.
struct RankCollective {
  Span span;
  std::uint32_t what = 0;        // position in RankData::whats
  std::uint32_t step = kNoStep;  // position in RankData::steps: where it was launched
};

struct RankStep {
  std::string name;  // "ProfilerStep#5"
  Span span;
  Ns exposed_communication = 0;  // of the rank's device
};

// A stretch with a name; a rank that does it alone makes the others wait.
struct HostEvents {
  std::uint64_t count = 0;
  Ns time = 0;  // of their union
  std::string first;
};

struct RankData {
  std::string file;
  std::int64_t rank = -1;                 // -1: not stated in the file
  std::int64_t world_size = 0;            // 0: not stated
  std::vector<std::int32_t> holds_ranks;  // of a file that several ranks were merged into; else empty
  Ns base = 0;                            // baseTimeNanoseconds; 0 where absent
  bool has_base = false;
  Span span;             // of the recording
  bool cut_off = false;  // the file ends in the middle
  std::uint64_t file_bytes = 0;

  std::int32_t device = -1;     // the GPU accounted for: that of its collectives, else the busiest; -1: none
  std::uint32_t devices = 0;    // GPUs that it worked on
  std::uint32_t host_gpus = 0;  // that it could see
  AccountTimes account;
  Span window;
  PackedSpans exposed_communication;  // within the window
  std::vector<RankStep> steps;        // empty where nothing marks steps

  std::vector<std::shared_ptr<const CollectiveWhat>> whats;  // equal ones are shared by the ranks of a run: WhatPool
  std::vector<RankCollective> collectives;                   // in order of begin
  // By collective. What few recordings state, or where it is what one expects, is left out.
  std::vector<std::int64_t> seqs;         // "Seq", -1 where not recorded; empty where it never is
  std::vector<std::uint32_t> file_order;  // its place among them in the file; empty where that is the order of begin
  bool by_order = false;                  // none says which collective it is: they are those of the kernels' names, by stream
  std::uint64_t unnamed = 0;              // communication kernels that do not say which collective they are; they are left out
  Ns unnamed_time = 0;
  std::string unnamed_example;  // the name of the first of them
  Ns communication_time = 0;    // sum over all of its communication kernels

  // What its compute kernels would take undisturbed: of each name and grid the shortest, times how many there are. Kernels run
  // longer while a collective runs that waits, so their plain sum is longer on the rank that waits.
  Ns compute_work = 0;

  std::shared_ptr<const RankRows> rows;      // null unless asked for; not sent to other processes
  std::shared_ptr<const RankReplay> replay;  // null where it was not read by LocalReader

  HostEvents compiling, collecting;  // Dynamo, Inductor and their like; Python's garbage collector

  // Of one of its collectives, by position.
  const CollectiveWhat& what(std::uint32_t at) const { return *whats[collectives[at].what]; }
  std::int64_t seq(std::uint32_t at) const { return seqs.empty() ? -1 : seqs[at]; }
  std::uint32_t place_in_file(std::uint32_t at) const { return file_order.empty() ? at : file_order[at]; }
};

}  // namespace gapscope
