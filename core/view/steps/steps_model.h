#pragma once
// The tab "Steps": ProfilerStep#N of the analysis, or another annotation taken for steps, worked out by a thread.
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/analyze/steps.h"

namespace gapscope {

struct Document;
struct StepsAnswer;
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

// Owned by ViewState. The panel asks when it is first drawn and when another annotation is chosen; until the
// answer is there the steps before stay.
struct StepsState {
  std::string annotation;
};

}  // namespace gapscope
