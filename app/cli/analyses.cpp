#include "app/cli/analyses.h"

#include <cstdio>

#include "app/cli/command_line.h"
#include "core/base/text.h"
#include "core/load/load_trace.h"

namespace gapscope {

int run_analysis(const AnalysisOptions& options, AnalysisText analysis) {
  const Result<std::shared_ptr<const Trace>> loaded = load_trace(options.trace);
  if (!loaded.ok()) {
    std::fprintf(stderr, "gapscope: %s\n", printable(loaded.error().message).c_str());
    return kBadInput;
  }
  const Trace& trace = **loaded;
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  const std::string out = analysis(trace, lanes, links, options);
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() && std::fflush(stdout) == 0 ? kOk : kBadInput;
}

}  // namespace gapscope
