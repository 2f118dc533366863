#pragma once
// The plain program: the recorded one without its profiler. How long its step is, and within which limits (PLAIN.md).
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/replay/plain_time.h"

namespace gapscope {

std::string_view plain_source_name(PlainSource source);  // "stated", ...

struct PlainProgram {
  Ns step = 0, low = 0, high = 0;  // mean length of a step; where the recording has no steps of the run
  std::size_t steps = 0;           // that it was taken from; 0: the recording has none
  PlainSource source = PlainSource::estimated;
  double gpu_share = 0;                          // of a step in which the busiest GPU works: 0..1; at the range's ends:
  double gpu_share_low = 0, gpu_share_high = 0;  // where a step takes `low` and `high`
  std::string trouble;                           // why a stated or measured step is out of reach; empty: it is not
  std::shared_ptr<const PlainPace> pace;         // for Change::pace
  std::vector<std::shared_ptr<const PlainPace>> at_ends;  // of a step that takes `low`, `high`; none: it is no estimate

  // What a step has of a replayed run of this length, so that it is `step`.
  StepShare share(Ns run) const {
    if (steps == 0) return {0, run, run, 0, 0};
    return {steps, step * static_cast<Ns>(steps), run, 0, 0};
  }
};

// The plain program as it is; null: the recording. Launches that found their queue full return when it has room.
Change plain_change(const PlainProgram* plain);

// Null where nothing can be said: without GPU work, launches or operators of PyTorch. `stated`: a step's length, or none.
// Others than PyTorch's profiler slow a program in ways that are not known: without a stated step null.
std::shared_ptr<const PlainProgram> plain_program(const Trace& trace, const ReplayModel& model, std::optional<StepTime> stated);

// "Without the profiler a step takes about 35.1 ms (33.0 to 37.2); the GPU is busy 89 % of it."
std::string plain_sentence(const PlainProgram& plain);

}  // namespace gapscope
