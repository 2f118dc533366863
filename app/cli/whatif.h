#pragma once
// `gapscope whatif TRACE [changes] [--json]`: the recording replayed with changes (core/replay/GAIN.md) on stdout.
#include <string>
#include <vector>

namespace gapscope {

struct WhatIfOptions {
  std::string trace;                 // "-" is standard input
  std::vector<std::string> changes;  // as read_changes() of core/replay/changes.h takes them
  std::string roofline;              // a number up to 1: kernels reach this share of their floor; empty: they do not change
  bool json = false;
};

int whatif(const WhatIfOptions& options);

}  // namespace gapscope
