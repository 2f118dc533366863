#pragma once
// What hangs on slices and lanes, put down once these have their places: rows of operators, GPU work and calls, memory records,
// instants, counters, flows. The tables do not depend on each other and are written side by side.
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/base/column.h"
#include "core/build/flow_builder.h"
#include "core/build/row_store.h"
#include "core/trace/lane_titles.h"
#include "core/trace/trace.h"

namespace gapscope {

struct PlacedRows {
  RowStore& rows;                                  // what is put down is taken out of it
  const std::vector<LaneDraft>& drafts;            // lanes as they were found
  const std::vector<ProcessId>& process_of_draft;  // by a draft's process
  const std::vector<LaneId>& lane_of_draft;
  const Column<std::uint32_t>& slice_of_raw;  // the slice at a position in file order
  Column<JoinedFlow>& joined;                 // ends are positions in file order; left empty
};

// Ends early, with tables that may only be thrown away, once `cancel` (may be null) is set.
void put_tables(const PlacedRows& placed, int threads, const std::atomic<bool>* cancel, Trace& out);

}  // namespace gapscope
