#pragma once
// Steps of a recording by the rules of PyTorch's TensorBoard plugin (event_parser.py, overall_parser.py), in integer
// nanoseconds: where a step begins and ends once its GPU work is counted, and what its time went into.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"

namespace gapscope {

// What a moment of a step counts as: the first of these that is going on. As in the plugin, Communication is the CPU time of
// nccl: and gloo: annotations and kernels that carry their id (a collective launched otherwise is a Kernel), Runtime is the
// CUDA runtime without the driver's calls, and CPU Exec is operators and every other annotation but steps.
enum class StepRole : std::uint8_t { kernel, memcpy, memset, communication, runtime, data_loader, cpu_exec, other };
constexpr std::size_t kStepRoles = 8;
std::string_view step_role_name(StepRole role);  // "Kernel", "Memcpy", ..., the plugin's words
std::string_view step_role_key(StepRole role);   // "kernel_ns", ...

struct Step {
  SliceId slice;                      // the annotation; none for the one step of a recording without any
  std::string name;                   // "ProfilerStep#3"
  Span cpu;                           // the annotation itself
  Span span;                          // begins after the GPU work of the step before, ends with the last of its own
  Span gpu;                           // first begin .. last end of the GPU work launched in it; {0, 0} where none
  std::uint32_t gpu_ops = 0;          // launched by a call inside it (whole), as the plugin counts
  std::uint32_t kernels = 0;          // whose launch begins in `cpu`
  std::uint32_t launches = 0;         // calls that begin in `cpu` and started GPU work
  std::array<Ns, kStepRoles> time{};  // by StepRole; sums to span.length()
};

struct Steps {
  std::vector<Step> steps;    // in time order, spans disjoint
  bool annotated = false;     // false: one step made of all CPU work, since no annotation was found
  std::string iterations_of;  // what each ends with, where none is marked (iterations()): "Optimizer.step#AdamW.step"
  std::uint32_t dropped = 0;  // last steps without their full GPU work, which the plugin leaves out
  std::uint32_t nested = 0;   // annotations of that name inside or over another: left out

  // First step's begin .. last step's end: what the plugin's GPU figures refer to. {0, 0} when there are no steps.
  Span span() const { return steps.empty() ? Span{} : Span{steps.front().span.begin, steps.back().span.end}; }
  bool are_marked() const { return annotated && iterations_of.empty(); }
  // The step whose annotation contains `t` (a launch's begin), or none.
  std::optional<std::size_t> at(Ns t) const;
};

// `ops`: all of the trace. `annotation`: empty for ProfilerStep#N, else the exact name of a user annotation.
Steps make_steps(const Trace& trace, const std::vector<GpuOp>& ops, std::string_view annotation = {});

// The annotations that could serve as steps: names of user annotations, most frequent first.
std::vector<std::pair<std::string, std::uint32_t>> annotation_names(const Trace& trace);

// A stretch of a recording that counts as a step.
struct Iteration {
  SliceId end;  // the annotation it ends with
  Span span;
};
// What represents steps where none is marked, as in a recording made from outside: PyTorch puts Optimizer.step#NAME around
// every optimizer.step() (torch/optim/optimizer.py, profile_hook_step), and an iteration reaches from the end of one to the end
// of the next on its thread. Of several names the one there is most of, of equals the first. What is before the first is
// none.
std::vector<Iteration> iterations(const Trace& trace);
std::string iteration_name(std::size_t position);  // 0: "iteration 1"

// What a gain is stated of: every ProfilerStep#N, else the passes of a serving engine that follow each other, else the
// iterations.
struct StepMarks {
  struct Mark {
    SliceId slice;  // the annotation; of an iteration the one that it ends with
    Span span;
  };
  std::vector<Mark> steps;   // in time order
  bool by_profiler = false;  // ProfilerStep#N: recording began and ended with them
};
StepMarks step_marks(const Trace& trace);
// "ProfilerStep#3", "decode of 32 requests, 32 tokens", "iteration 4".
std::string step_name(const Trace& trace, SliceId mark, std::size_t position);

// Every annotation ProfilerStep#N (an operator in 2021 files) in time order, unchanged.
std::vector<SliceId> profiler_steps(const Trace& trace);

// Names of what loads data: enumerate(DataLoader)#*.__next__ and enumerate(DataPipe)#*.
bool is_data_loader_name(std::string_view name);

}  // namespace gapscope
