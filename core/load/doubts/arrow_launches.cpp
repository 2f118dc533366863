// Work without a correlation id belongs to the slice that its arrow comes from: Ascend, rocprof and Proton join them so.
#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/load/doubts/doubts.h"

namespace gapscope {
namespace {

// A slice of a device that is no work itself, and that an arrow leads to: XLA's modules, whose operations lie on other lanes.
struct Launched {
  ProcessId process;
  Span span;
  SliceId from;
};

bool is_of_device(const Trace& trace, SliceId s) { return trace.processes[trace.lane(s).process.index()].device >= 0; }

// Of each work of a device that no arrow leads to: the slice that launched what is around it.
template <class Launch>
void launch_within(const Trace& trace, std::vector<Launched> launched, Launch launch) {
  if (launched.empty()) return;
  const auto before = [](const Launched& a, const Launched& b) {
    return std::tuple(a.process, a.span.begin) < std::tuple(b.process, b.span.begin);
  };
  std::sort(launched.begin(), launched.end(), before);
  for (std::size_t i = 0; i < trace.gpu.size(); ++i) {
    const SliceId work = trace.gpu[i].slice;
    if (!is_gpu_work(trace.kind(work))) continue;
    const ProcessId process = trace.lane(work).process;
    const auto after = std::upper_bound(launched.begin(), launched.end(), Launched{process, trace.span_of(work), work}, before);
    if (after == launched.begin()) continue;
    const Launched& around = *(after - 1);
    if (around.process == process && trace.end(work) <= around.span.end) launch(i, around.from);
  }
}

}  // namespace

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
  std::unordered_map<SliceId, std::uint64_t> made;
  const auto launch = [&](GpuRow& row, SliceId from) {
    if (row.correlation != 0 && joined.contains(row.correlation)) return;
    if (const Call* const known = trace.call(from); known != nullptr) {
      row.correlation = known->correlation;
      return;
    }
    const auto [at, is_new] = made.try_emplace(from, next + 1);
    if (is_new) calls.push_back({from, ++next});
    row.correlation = at->second;
    joined.insert(at->second);
  };
  std::vector<Launched> around;
  for (const Flow& flow : trace.flows) {
    const Kind from = trace.kind(flow.from);
    if (is_on_gpu(from) || (from == Kind::other && is_of_device(trace, flow.from))) continue;
    if (is_gpu_work(trace.kind(flow.to))) {
      if (GpuRow* const row = row_of(flow.to); row != nullptr) launch(*row, flow.from);
    } else if (trace.kind(flow.to) == Kind::other && is_of_device(trace, flow.to)) {
      around.push_back({trace.lane(flow.to).process, trace.span_of(flow.to), flow.from});
    }
  }
  launch_within(trace, std::move(around), [&](std::size_t row, SliceId from) { launch(trace.gpu[row], from); });
  if (calls.empty()) return;
  const auto before = [](const Call& a, const Call& b) { return a.slice < b.slice; };
  std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.slice < b.slice; });
  Column<Call> all(trace.calls.size() + calls.size());
  std::merge(trace.calls.begin(), trace.calls.end(), calls.begin(), calls.end(), all.begin(), before);
  trace.calls = std::move(all);
}

}  // namespace gapscope
