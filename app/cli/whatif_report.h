#pragma once
// What `gapscope whatif` prints.
#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/profiler_cost.h"
#include "core/replay/path_sums.h"

namespace gapscope {

struct WhatIfReport {
  const Trace& trace;
  const ReplayModel& model;
  const ReplayResult& result;
  GpuBusy busy;
  Bound next{};                // what then holds the run back
  const Diagnosis* diagnosis;  // without changes: what each remedy gives, and the plan; else null
  ProfilerCost profiler;       // in the run
  bool full_queues = false;    // Change::full_queues
  bool with_path = false;
  std::vector<PathStretch> path;  // of the replayed run
  std::vector<PathSum> sums;
};

// "9.63 ms -> 7.50 ms, 22.1 % less"
std::string before_and_after(Ns before, Ns after);

std::string whatif_json(const WhatIfReport& report);
std::string whatif_text(const WhatIfReport& report);

}  // namespace gapscope
