#pragma once
// What one step did that the median one did not: kernels, operators and calls by name, and the idle GPU by its causes. Plain
// values, as core/view and the command line show them.
#include <atomic>
#include <string>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/compare/comparison.h"

namespace gapscope {

struct StepDifference {
  enum class Of : std::uint8_t {
    idle,      // of the busiest GPU, one cause: time between the step's begin and the next one's
    gpu_work,  // launched in the step, by name: sum of durations
    host,      // operators and calls that began in the step, by name: sum of self time
  };
  Of of{};
  std::string name;                                // of the trace, or of an IdleCause
  std::uint64_t count_median = 0, count_step = 0;  // 0 for `idle`
  Ns median = 0, step = 0;
  Ns delta() const { return step - median; }
};
std::string_view difference_of_name(StepDifference::Of of);  // "idle GPU"

struct StepDifferences {
  std::string step, median;  // "ProfilerStep#5"
  SliceId slice, median_slice;
  bool is_median() const { return slice == median_slice; }
  Ns step_cpu = 0, median_cpu = 0;   // lengths of the two annotations
  std::vector<StepDifference> rows;  // largest change first: those of at least 1 us and 1 % of the longer step
};

// `step`: one of the annotations that mark steps. The median is the one that comparing two traces picks (StepPick::median),
// so a first step of several never is it. `account`: null where there is none. Cancelled: an empty answer.
// Errors: `step` marks no step, or there is no other that could be the median.
Result<StepDifferences> step_differences(const ComparedTrace& input, const TimeAccount* account, SliceId step,
                                         const std::string& annotation, const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
