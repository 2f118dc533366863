#include "app/cli/analyses.h"

#include <cstdio>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/base/text.h"

namespace gapscope {

int run_analysis(const AnalysisOptions& options, AnalysisText analysis) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Trace& trace = *loaded;
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  const std::string out = analysis(trace, lanes, links, options);
  return print(out);
}

}  // namespace gapscope
