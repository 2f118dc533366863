#pragma once
// `gapscope whatif TRACE [changes] [--path] [--json]`: the recording replayed with changes (core/replay/GAIN.md) on stdout;
// without any, what each finding's remedy would give, and a plan.
#include <string>
#include <vector>

namespace gapscope {

struct WhatIfOptions {
  std::string trace;                 // "-" is standard input
  std::vector<std::string> changes;  // as read_changes() of core/replay/changes.h takes them
  std::string roofline;              // a number up to 1: kernels reach this share of their floor; empty: they do not change
  bool path = false;                 // what holds the run back, too
  bool json = false;
};

int whatif(const WhatIfOptions& options);

}  // namespace gapscope
