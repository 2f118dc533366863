#pragma once
#include <string>

namespace gapscope {

struct InfoOptions {
  std::string trace;  // "-" is standard input
  bool json = false;
  bool stages = false;  // the timeline of loading it, instead of what is in it
};

// `gapscope info TRACE [--json] [--stages]`: what is in a trace, on stdout. The exit code; an error is one sentence on stderr.
int info(const InfoOptions& options);

}  // namespace gapscope
