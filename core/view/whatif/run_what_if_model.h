#pragma once
// What a run of several ranks would take with changes that are of ranks; which ranks are worth a try.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/ranks/run_replay.h"
#include "core/view/ranks/ranks_model.h"
#include "core/view/whatif/run_what_if_state.h"

namespace gapscope {

struct RunWhatIfAnswer {
  RunWhatIfQuestion question;
  RunReplay replay;
};

// Ranks that others waited for, the longest first; at most `most`.
std::vector<std::int64_t> late_ranks(const RunReport& report, std::size_t most);
void set_never_late(RunWhatIfQuestion& question, std::int64_t rank, bool on);
// "then rank 0 is late: the others wait 2.49 ms for it", or that none is.
std::string late_words(const RunWhatIfAnswer& answer);

}  // namespace gapscope
