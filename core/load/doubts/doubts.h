#pragma once
// What is not as recordings are: found while a trace is built and, where that is possible, put right. What needs the launches
// joined is found later: core/analyze/doubts.h.
#include <vector>

#include "core/build/row_store.h"
#include "core/load/producers/producers.h"
#include "core/trace/trace.h"

namespace gapscope {

// Of the rows of a file, before a trace is made of them. Events without a time are left out, several ranks are separated;
// `only_rank`: the others' rows are left out then, unless it is -1.
std::vector<Doubt> doubts_of_rows(Header& header, RowStore& rows, const Adopted& adopted, std::int32_t only_rank,
                                  LoadReport& report);
// Of the built trace, whose GPU lanes are moved to the host's clock. Adds to Trace::doubts and ::recordings.
void find_doubts(Trace& trace);

// Of producers that join work with its launch by arrows alone.
void launch_by_arrows(Trace& trace);

// The parts, a file each. Nothing where all is well.
void add_missing_times(RowStore& rows, LoadReport& report, std::vector<Doubt>& out);
void add_ranks(Header& header, RowStore& rows, std::int32_t only_rank, std::vector<Doubt>& out);
void add_clock_offsets(Trace& trace);
void add_impossible_durations(Trace& trace);
void add_recordings(Trace& trace);
void add_reported_losses(Trace& trace);

}  // namespace gapscope
