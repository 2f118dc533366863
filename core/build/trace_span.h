#pragma once
// How long a trace is, and what is too far from the rest to count.
#include "core/trace/trace.h"

namespace gapscope {

// Takes away "Record Window End" marks more than a day from all slices, and reports them. Day: the limit of the TensorBoard
// plugin for stray window marks.
void drop_absurd_marks(Trace& trace);

// Sets Trace::span: first begin to last end over slices, without what is more than a day and more than a hundred times the
// bulk's own length from the bulk, which is reported. Where there are no slices, over instants or counters.
void find_span(Trace& trace);

}  // namespace gapscope
