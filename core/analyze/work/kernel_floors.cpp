#include "core/analyze/work/kernel_floors.h"

#include <algorithm>

namespace gapscope {

KernelFloors::KernelFloors(const Trace& trace, const WorkTable& table) : trace_(trace), table_(table) {
  of_rows_.reserve(table.rows.size());
  for (const WorkRow& row : table.rows) of_rows_.push_back(floor_of(trace, row).floor_ns);
}

std::optional<double> KernelFloors::of(SliceId kernel) const {
  const CallWork* call = table_.call_of_kernel(kernel);
  return call ? share_of_floor(trace_, table_, *call, of_rows_[call->row], kernel) : std::nullopt;
}

std::optional<double> share_of_floor(const Trace& trace, const WorkTable& table, const CallWork& call,
                                     std::optional<double> floor_ns, SliceId kernel) {
  const WorkRow& row = table.rows[call.row];
  if (!floor_ns || row.count == 0 || call.kernel_ns <= 0) return {};
  const double share = static_cast<double>(trace.duration(kernel)) / static_cast<double>(call.kernel_ns);
  const double own = *floor_ns / static_cast<double>(row.count) * share;
  return std::min(own, static_cast<double>(trace.duration(kernel)));
}

}  // namespace gapscope
