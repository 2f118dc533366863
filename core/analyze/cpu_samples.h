#pragma once
// What a thread did on the CPU, by the samples of an Nsight Systems export: slices in a lane next to the thread's own
// (core/load/nsight_samples.h).
#include <optional>
#include <string>
#include <string_view>

#include "core/trace/trace.h"

namespace gapscope {

struct SampledFunction {
  std::string_view name;
  Ns time = 0;     // as the innermost function of a sample
  Ns sampled = 0;  // of all functions: how long the thread was on a CPU
};
// The one that the thread of `launch` was in most during `span`; none where it has no samples there. O(samples in it).
std::optional<SampledFunction> most_sampled(const Trace& trace, SliceId launch, Span span);
// "The launching thread was sampled mostly in decode: 62 % of the 1.20 ms that it was on a CPU."
std::string sampled_sentence(const SampledFunction& of);

}  // namespace gapscope
