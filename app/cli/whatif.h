#pragma once
// `gapscope whatif TRACE|FOLDER [changes] [--path] [--json]`: recordings replayed with changes (core/replay/GAIN.md) on stdout;
// without any, what each finding's remedy would give, and a plan.
#include <string>
#include <vector>

namespace gapscope {

struct WhatIfOptions {
  std::vector<std::string> traces;   // one, "-" being standard input; a folder, or several: the ranks of a run
  std::vector<std::string> changes;  // as read_changes() of core/replay/changes.h takes them, of a run read_run_change()
  std::string roofline;              // a number up to 1: kernels reach this share of their floor; empty: they do not change
  bool path = false;                 // what holds the run back, too
  bool json = false;
};

int whatif(const WhatIfOptions& options);
// The ranks of a run, replayed together (core/ranks/run_replay.h).
int whatif_run(const WhatIfOptions& options);

}  // namespace gapscope
