#include "core/analyze/overview/missing_words.h"

namespace gapscope {

std::string_view no_gpu_work_words(ProgramKind program) {
  return program == ProgramKind::python
             ? "No GPU work in this trace: record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."
             : "No GPU work in this trace: gapscope record saw no kernel, copy or memset.";
}

std::string_view no_memory_words(ProgramKind program) {
  return program == ProgramKind::python
             ? "No memory records are in this trace. Record with profile_memory=True."
             : "No memory records are in this trace: gapscope record does not see what an allocator gives out.";
}

std::string_view no_steps_words(ProgramKind program) {
  return program == ProgramKind::python
             ? "No steps recorded: call profiler.step() and pass schedule(...); this is the whole recording."
             : "No steps recorded: put an NVTX range around each iteration and choose its name here; this is the whole "
               "recording.";
}

}  // namespace gapscope
