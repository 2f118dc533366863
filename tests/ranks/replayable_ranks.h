#pragma once
// Two recorded ranks of one run, read so that they can be replayed together.
#include <string>
#include <vector>

#include "core/ranks/rank_replay.h"
#include "core/ranks/read_rank.h"
#include "core/ranks/run_report.h"
#include "tests/support/real_traces.h"

namespace gapscope::test {

// `list`: changes of each rank, as read_run_change() takes them.
inline RunReport replayable(const std::string& name, const std::vector<std::string>& list = {}) {
  LocalReader reader({.change = *read_run_change(list)});
  return analyze_run({recording(name + "_rank0").string(), recording(name + "_rank1").string()}, reader,
                     ClockAlignment::collectives);
}

}  // namespace gapscope::test
