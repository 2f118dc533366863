#pragma once
// The tab "Steps": ProfilerStep#N of the analysis, or another annotation taken for steps, worked out by a thread.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/analyze/steps.h"
#include "core/index/link_index.h"

namespace gapscope {

struct StepsAnswer {
  std::string annotation;  // empty: ProfilerStep#N
  Steps steps;
  std::vector<std::pair<std::string, std::uint32_t>> names;  // annotations that could serve, most frequent first
};
StepsAnswer answer_steps(const Trace& trace, const LinkIndex& links, const std::string& annotation);

// Owned by ViewState. The panel asks (MakeSteps) when it is first drawn and when another annotation is chosen; until the
// answer is there the steps before stay.
struct StepsState {
  std::string annotation;
  std::optional<std::string> asked;
  std::shared_ptr<const StepsAnswer> answer;
};

}  // namespace gapscope
