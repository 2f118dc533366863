#pragma once
// Steps that carry another name than PyTorch's: chosen by a person, or found by their regularity.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace gapscope {

// A sentence where Stated::steps names nothing in this trace, with what it could name; else empty.
std::string trouble_with_stated_steps(const Trace& trace);

// Annotations of that name, phase of a serving engine aside, in time order, also those inside another; empty where there is
// none or where it is no expression.
std::vector<SliceId> steps_named(const Trace& trace, std::string_view name_or_expression);

// The annotations that recur as steps do, in time order: of one thread and one name, three or more, disjoint, with most of the
// trace's launches inside. Either their names differ by a number that grows (is_numbered), or each launches about as much as
// the others. Empty where none does. What PyTorch itself annotates is no step.
struct RegularSteps {
  std::vector<SliceId> steps;
  bool is_numbered = false;
};
RegularSteps regular_steps(const Trace& trace);

// "train_step 17" -> "train_step #": what such names have in common.
std::string without_numbers(std::string_view name);

}  // namespace gapscope
