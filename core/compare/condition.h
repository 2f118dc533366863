#pragma once
// A condition on a comparison, as --fail-if takes it: FIGURE > or < CHANGE, where the change is what B has more (+) or less (-)
// than A by the medians of a step: "gpu_busy>+5%", "cpu>+10%", "kernels>+0", "launches<-2", "idle>+50us". Or one of a row of
// use_table.h, where shares of a whole also change by points of a hundred: "utilization<-5pp", "flops<-3%", "step>+1ms". Or a
// share of the run that remedies would save, by `gapscope diff`: "gain>+5pp" by all, "gain.long_sync_wait>+1pp" by that of a
// rule.
#include <string>
#include <string_view>

#include "core/compare/comparison.h"
#include "core/compare/use_table.h"

namespace gapscope {

struct Condition {
  StepFigure figure{};
  std::string use;       // key of a row of the use table, in place of a figure; empty: the figure
  bool more = true;      // '>'
  bool percent = false;  // of A
  double amount = 0;     // percent, else nanoseconds, a count, a part of 1 or bytes; signed
};

// The error says what is allowed.
Result<Condition> parse_condition(std::string_view text);

// More than any percentage of nothing is a change without bounds: a figure that was 0 and is not any more.
// Of the use table too: no change where a side lacks the row.
bool holds(const Condition& condition, const Comparison& comparison, const std::vector<UseRow>& use = {});

}  // namespace gapscope
