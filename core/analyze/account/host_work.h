#pragma once
// What exactly the host was in while a GPU was idle: the operators, calls and Python frames behind a gap's causes.
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/index/lane_index.h"

namespace gapscope {

// Pieces of a gap that agree in cause and in the names of the three slices, added up.
struct HostWork {
  IdleCause cause{};
  Ns time = 0;
  SliceId slice;   // what answers for it (HostPiece::slice), the first of its name; none where nothing is recorded
  SliceId op;      // the innermost operator around it, where it is none itself
  SliceId python;  // the innermost Python frame around it (or itself) with file and line; the program's own before PyTorch's
};

// Of the part of the gap in `clip`, most time first. Together they are as long as that part.
std::vector<HostWork> host_work(const Trace& trace, const LaneIndex& lanes, const TimeAccount& account, const DeviceGap& gap,
                                Span clip);

}  // namespace gapscope
