#pragma once
// What `gapscope whatif` prints.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/profiler_cost.h"
#include "core/replay/path_sums.h"

namespace gapscope {

struct WhatIfOptions {
  std::vector<std::string> traces;   // one, "-" being standard input; a folder, or several: the ranks of a run
  std::vector<std::string> changes;  // as read_changes() of core/replay/changes.h takes them, of a run read_run_change()
  std::string roofline;              // a number up to 1: kernels reach this share of their floor; empty: they do not change
  bool path = false;                 // what holds the run back, too
  bool json = false;
};
// The ranks of a run, replayed together (core/ranks/run_replay.h).
int whatif_run(const WhatIfOptions& options);

struct WhatIfReport {
  const Trace& trace;
  const ReplayModel& model;
  const ReplayResult& result;
  GpuBusy busy;
  Bound next{};                             // what then holds the run back
  const Diagnosis* diagnosis;               // without changes: what each remedy gives, and the plan; else null
  ProfilerCost profiler;                    // in the run
  bool full_queues = false;                 // Change::full_queues
  std::optional<std::size_t> waits_inside;  // waits_between_launches(), where each step is one graph
  bool with_path = false;
  std::vector<PathStretch> path;  // of the replayed run
  std::vector<PathSum> sums;
  // The program without its profiler: `result` and `busy` are then of it; null: as recorded. With what limits it.
  std::shared_ptr<const PlainProgram> plain{};
  std::string plain_verdict{};
  std::vector<Doubt> doubts{};  // about the recording
};

// "9.63 ms -> 7.50 ms, 22.1 % less"
std::string before_and_after(Ns before, Ns after);

std::string whatif_json(const WhatIfReport& report);
std::string whatif_text(const WhatIfReport& report);

}  // namespace gapscope
