#pragma once
// Which thread is first below the GPUs: the one that holds them back.
#include "core/view/timeline/lane_folds.h"

namespace gapscope {

struct Document;

// The thread whose launches ended the most idle time of all GPUs. None without an account.
LaneId thread_that_holds_back(const Document& document);
// Whether the GPU that works most is idle for Python most of all.
bool waits_for_python(const Document& document);
// Puts a thread above the other lanes of its process, and that before other processes without streams; not where
// the order that reset_folds() made was changed.
void put_thread_first(LaneFolds& folds, const Trace& trace, LaneId thread);

}  // namespace gapscope
