#pragma once
// The tab "Steps": ProfilerStep#N of the analysis, or another annotation taken for steps, worked out by a thread.
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/analyze/steps.h"
#include "core/compare/step_difference.h"

namespace gapscope {

struct Document;
struct StepsAnswer;
struct StepDifferencesAnswer;
struct StepsQuestion {
  using Answer = StepsAnswer;
  static constexpr const char* kToDo = "work out the steps";
  std::string annotation;  // empty: ProfilerStep#N
  friend bool operator==(const StepsQuestion&, const StepsQuestion&) = default;
};
struct StepsAnswer {
  std::string annotation;  // empty: ProfilerStep#N
  Steps steps;
  std::vector<std::pair<std::string, std::uint32_t>> names;  // annotations that could serve, most frequent first
};
std::shared_ptr<const StepsAnswer> answer(const Document& document, const StepsQuestion& question,
                                          const std::atomic<bool>* cancel);

// What a chosen step did that the median one did not.
struct StepDifferenceQuestion {
  using Answer = StepDifferencesAnswer;
  static constexpr const char* kToDo = "compare the step with the median one";
  SliceId step;
  std::string annotation;  // empty: ProfilerStep#N
  friend bool operator==(const StepDifferenceQuestion&, const StepDifferenceQuestion&) = default;
};
struct StepDifferencesAnswer {
  StepDifferences found;
  std::string absence;  // why there are none: a sentence; empty: there are
};
std::shared_ptr<const StepDifferencesAnswer> answer(const Document& document, const StepDifferenceQuestion& question,
                                                    const std::atomic<bool>* cancel);
// "12.3 ms longer on the CPU than the median step, ProfilerStep#3 (30.1 ms)."
std::string difference_headline(const StepDifferences& found);

// The mean of the steps, as a row: times and counts rounded down. Precondition: not empty.
Step average_step(const std::vector<const Step*>& steps);

// Owned by TraceView. The panel asks when it is first drawn and when another annotation is chosen; until the
// answer is there the steps before stay.
struct StepsState {
  std::string annotation;
};

}  // namespace gapscope
