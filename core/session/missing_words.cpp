#include "core/session/missing_words.h"

#include "core/trace/program_kind.h"

namespace gapscope {

std::string_view no_gpu_work_words(const Trace& trace) {
  const bool saw_all = trace.producer->is_pytorch && program_kind(trace) != ProgramKind::python;
  return saw_all ? "No GPU work in this trace: gapscope record saw no kernel, copy or memset." : trace.producer->no_gpu_work;
}

std::string_view no_memory_words(const Trace& trace) {
  if (!trace.producer->is_pytorch) return "No memory records are in this trace.";
  return program_kind(trace) == ProgramKind::python
             ? "No memory records are in this trace. Record with profile_memory=True."
             : "No memory records are in this trace: gapscope record does not see allocations of a caching allocator.";
}

std::string_view no_steps_words(const Trace& trace) {
  if (!trace.producer->is_pytorch)
    return "No steps recorded: choose the annotation of an iteration here; this is the whole recording.";
  return program_kind(trace) == ProgramKind::python
             ? "No steps recorded: call profiler.step() and pass schedule(...); this is the whole recording."
             : "No steps recorded: put an NVTX range around each iteration and choose its name here; this is the whole "
               "recording.";
}

}  // namespace gapscope
