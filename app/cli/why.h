#pragma once
// `gapscope why TRACE [--device N] [--range FROM:TO] [--by-step] [--json]`: the time account on stdout, with the longest gaps
// and what exactly the host was in.
#include <optional>
#include <string>

#include "core/view/document.h"

namespace gapscope {

struct WhyOptions {
  std::string trace;          // "-" is standard input
  std::optional<int> device;  // none: all
  std::string range;          // "FROM:TO", each as for --from and --to, or empty; empty: the whole window
  bool by_step = false;
  bool json = false;
};

// Loads, accounts, prints. The exit code; an error is one sentence on stderr.
int why(const WhyOptions& options);

}  // namespace gapscope
