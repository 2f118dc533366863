#pragma once
// The columns of the streams' idle gaps: of the table in the tab GPU.
#include "core/analyze/gpu/idle_gaps.h"
#include "core/base/table/columns.h"
#include "core/trace/trace.h"

namespace gapscope {

struct GapContext {
  const Trace& trace;
};
struct GapsInOrder {
  const IdleGaps& gaps;
  IdleGap operator()(std::size_t row) const { return gaps[row]; }
};
using GapRows = RowsOf<IdleGap, GapContext, GapsInOrder>;

// Both must outlive it.
GapRows gap_rows(const Trace& trace, const IdleGaps& gaps);

// "host wait", and what that means: a sentence.
struct IdleClassWords {
  const char* title;
  const char* help;
};
const IdleClassWords& words_of(IdleClass idle_class);

}  // namespace gapscope
