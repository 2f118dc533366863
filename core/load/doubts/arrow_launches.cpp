// Work without a correlation id belongs to the slice that its arrow comes from: Ascend, rocprof and Proton join them so.
#include <algorithm>
#include <unordered_set>
#include <vector>

#include "core/load/doubts/doubts.h"

namespace gapscope {

void launch_by_arrows(Trace& trace) {
  if (trace.flows.empty()) return;
  std::uint64_t next = 0;
  for (const GpuRow& row : trace.gpu) next = std::max(next, row.correlation);
  for (const Call& call : trace.calls) next = std::max(next, call.correlation);
  const auto row_of = [&](SliceId slice) -> GpuRow* {
    const auto at =
        std::lower_bound(trace.gpu.begin(), trace.gpu.end(), slice, [](const GpuRow& row, SliceId s) { return row.slice < s; });
    return at != trace.gpu.end() && at->slice == slice ? &*at : nullptr;
  };
  std::unordered_set<std::uint64_t> joined;  // ids that a call has: others say nothing
  for (const Call& call : trace.calls) joined.insert(call.correlation);
  std::vector<Call> calls;
  for (const Flow& flow : trace.flows) {
    if (!is_gpu_work(trace.kind(flow.to)) || is_on_gpu(trace.kind(flow.from))) continue;
    GpuRow* const row = row_of(flow.to);
    if (row == nullptr || (row->correlation != 0 && joined.contains(row->correlation))) continue;
    if (const Call* const known = trace.call(flow.from); known != nullptr) {
      row->correlation = known->correlation;
      continue;
    }
    // Flows are ordered by where they come from, so a slice's later ones follow at once.
    if (calls.empty() || calls.back().slice != flow.from) calls.push_back({flow.from, ++next});
    row->correlation = calls.back().correlation;
  }
  if (calls.empty()) return;
  const auto before = [](const Call& a, const Call& b) { return a.slice < b.slice; };
  Column<Call> all(trace.calls.size() + calls.size());
  std::merge(trace.calls.begin(), trace.calls.end(), calls.begin(), calls.end(), all.begin(), before);
  trace.calls = std::move(all);
}

}  // namespace gapscope
