#pragma once
// Why a GPU was idle: the causes that the time account splits idle time into, and how they read.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/saturating.h"
#include "core/base/time.h"
#include "core/trace/program_kind.h"

namespace gapscope {

// In the order in which they are reported. The first four are the host's own work ("host parts").
enum class IdleCause : std::uint8_t {
  op,             // inside an operator of the framework, outside any CUDA call
  python,         // inside Python code or an annotation (of any program), outside any operator
  launching,      // inside the call that launched the work that ended the gap
  cuda_call,      // inside another CUDA call
  starting,       // launched, not begun
  synchronizing,  // inside a call that waits for the GPU
  data_loading,   // inside enumerate(DataLoader)
  compiling,      // inside Dynamo, AOTAutograd or Inductor
  allocating,     // inside a CUDA call that allocates, frees or maps memory
  loading,        // the profiler's overhead "Lazy Function Loading" and its like: the driver loads code
  profiler,       // any other overhead of the profiler
  unrecorded,     // no thread of the file has a slice there
  unlinked,       // work ended the gap whose launch is not in the file
};
constexpr std::size_t kIdleCauses = 13;

// Nanoseconds by IdleCause.
using CauseTimes = std::array<Ns, kIdleCauses>;

constexpr std::size_t index_of(IdleCause cause) { return static_cast<std::size_t>(cause); }
// As in JSON: "operator", "cuda_call", ...
std::string_view idle_cause_key(IdleCause cause);
// As a heading: "operators", "Python", "launched, not begun", ...
std::string_view idle_cause_title(IdleCause cause, ProgramKind program);
// What the host did, inside a sentence: "in operators", "in Python outside operators", ...
std::string_view idle_cause_words(IdleCause cause, ProgramKind program);
// What helps against it: an imperative sentence or two.
std::string_view idle_cause_remedy(IdleCause cause, ProgramKind program);

// The host's own work: what a host-bound run spends its time on.
constexpr bool is_host_part(IdleCause c) {
  return c == IdleCause::op || c == IdleCause::python || c == IdleCause::launching || c == IdleCause::cuda_call;
}

constexpr Ns sum_of(const CauseTimes& times) {
  Ns sum = 0;
  for (const Ns t : times) add_saturating(sum, t);
  return sum;
}
// The cause with the most time, the first of equal ones. Meaningless where all are 0.
constexpr IdleCause largest_of(const CauseTimes& times) {
  return static_cast<IdleCause>(std::max_element(times.begin(), times.end()) - times.begin());
}

// What a CUDA or HIP call means for a GPU that waits: synchronizing, allocating, or else cuda_call.
IdleCause cause_of_call(std::string_view call_name);
// Dynamo, AOTAutograd or Inductor at work, by the name of an annotation or a Python frame.
bool is_compile_frame_name(std::string_view name);

}  // namespace gapscope
