#pragma once
// `gapscope modules TRACE [--by class|instance] [--tree] [--json]`: GPU time by nn.Module on stdout.
#include <string>

namespace gapscope {

struct ModulesOptions {
  std::string trace;  // "-" is standard input
  bool by_class = false;
  bool tree = false;
  bool json = false;
};

// Loads, analyses, prints. The exit code; an error is one sentence on stderr.
int modules(const ModulesOptions& options);

}  // namespace gapscope
