#include "core/session/missing_words.h"

#include "core/analyze/work/work_table.h"
#include "core/trace/program_kind.h"

namespace gapscope {

std::string_view no_memory_words(const Trace& trace) {
  if (!trace.producer->is_pytorch) return "No memory records are in this trace.";
  return by_torch_profiler(trace)
             ? "No memory records are in this trace. Record with profile_memory=True."
             : "No memory records are in this trace: gapscope record does not see allocations of a caching allocator.";
}

std::string_view no_steps_words(const Trace& trace) {
  if (!trace.producer->is_pytorch)
    return "No steps recorded: choose the annotation of an iteration here; this is the whole recording.";
  return by_torch_profiler(trace)
             ? "No steps recorded: call profiler.step() and pass schedule(...); this is the whole recording."
             : "No steps recorded: put an NVTX range around each iteration and choose its name here; this is the whole "
               "recording.";
}

std::string_view no_shapes_words(const Trace& trace) {
  return by_torch_profiler(trace) ? "No operator of this trace states its shapes: record with record_shapes=True."
                                  : "No operator of this trace states its shapes.";
}

std::string_view missing_roofline(const Trace& trace, const WorkTable& table) {
  if (table.kernel_ns == 0) return "No kernel is recorded.";
  return table.shapes_recorded ? std::string_view{} : no_shapes_words(trace);
}

}  // namespace gapscope
