#pragma once
// A condition on a comparison, as --fail-if takes it: FIGURE > or < CHANGE, where the change is what B has more (+) or less (-)
// than A by the medians of a step: "gpu_busy>+5%", "cpu>+10%", "kernels>+0", "launches<-2", "idle>+50us".
#include <string>
#include <string_view>

#include "core/compare/comparison.h"

namespace gapscope {

struct Condition {
  StepFigure figure{};
  bool more = true;      // '>'
  bool percent = false;  // of A
  double amount = 0;     // percent, else nanoseconds or a count; signed
};

// The error says what is allowed.
Result<Condition> parse_condition(std::string_view text);

// More than any percentage of nothing is a change without bounds: a figure that was 0 and is not any more.
bool holds(const Condition& condition, const Comparison& comparison);

}  // namespace gapscope
