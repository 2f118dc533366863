#pragma once
// Which operations of one queue wait for the end of another's by an event, as far as the recording has it: slices "Stream Wait
// Event", which PyTorch records with `enable_cuda_sync_events` (core/load/KINETO.md, 4.7).
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/index/name_index.h"
#include "core/replay/replay.h"

namespace gapscope {

// `model`: with its calls, operations and order; `queues`: by Operation::queue. By operation. A wait that the recorded times
// contradict is none.
std::vector<ReplayModel::EventWait> event_waits(const Trace& trace, const NameIndex& names, const ReplayModel& model,
                                                const std::vector<StreamOps>& queues);

}  // namespace gapscope
