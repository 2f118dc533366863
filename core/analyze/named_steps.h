#pragma once
// Which annotations are steps: PyTorch's, those that a person chose, or those that are found by their regularity.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace gapscope {

struct Step;

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

// Annotations and operators ProfilerStep#N in order of begin; `any`: whether such a name is in the trace.
std::vector<SliceId> plugin_steps(const Trace& trace, bool& any);
// The steps without a choice: PyTorch's, those that the recording's header names, or regular_steps(), in time order.
std::vector<SliceId> unstated_steps(const Trace& trace);
// What these are in words: "ProfilerStep#N", "train_step #", "passes" of a serving engine, "iterations"; empty: there are none.
std::string unstated_steps_name(const Trace& trace);

// What each annotation's step is, of such in time order: itself; or from its begin to the next one's, where a person chose them
// and they leave out much of the time between them, as those of an optimizer do. Then the last is no step: a span less.
std::vector<Span> step_spans(const Trace& trace, const std::vector<SliceId>& marks);
bool reaches_to_next(const Trace& trace, const Step& step);
constexpr std::string_view kStepToNext =
    "A step is from the start of one to the start of the next. The last one is not counted.";

// "train_step 17" -> "train_step #": what such names have in common.
std::string without_numbers(std::string_view name);

}  // namespace gapscope
