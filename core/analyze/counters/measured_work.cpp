#include "core/analyze/counters/measured_work.h"

#include <algorithm>
#include <vector>

namespace gapscope {
namespace {

// Pieces of one kind with nothing else on the GPU between or concurrent, and no gap to speak of.
struct Run {
  std::uint32_t kind = kUnmeasuredKind;
  Span span;
  Ns busy = 0;
  std::uint64_t pieces = 0;
};
constexpr double kMostIdle = 0.05;  // of a run, by which its shares come out too small

bool joins(const Run& run, const GpuOp& op, std::uint32_t kind) {
  if (run.pieces == 0 || run.kind != kind || op.span.begin < run.span.end) return false;
  const Ns idle = op.span.begin - run.span.begin - run.busy;
  return static_cast<double>(idle) <= kMostIdle * static_cast<double>(op.span.end - run.span.begin);
}

struct Pool {
  std::uint64_t pieces = 0, pooled = 0;
  Ns time = 0;
  std::vector<Span> spans;
};

// Nothing runs concurrently. `ops` are in time order, and those before it end at `busy_until`.
bool is_alone(const std::vector<GpuOp>& ops, std::size_t at, Ns busy_until) {
  return ops[at].span.begin >= busy_until && (at + 1 == ops.size() || ops[at + 1].span.begin >= ops[at].span.end);
}

// A run of less than two samples would be measured by what its neighbours do.
void end_run(Run& run, const DeviceCounters& device, std::map<std::uint32_t, Pool>& pools) {
  if (run.pieces > 0 && device.over(run.span).measured()) {
    Pool& pool = pools[run.kind];
    pool.spans.push_back(run.span);
    pool.pooled += run.pieces;
  }
  run = {};
}

}  // namespace

std::map<std::uint32_t, MeasuredWork> measure_work(const std::vector<GpuOp>& all, const DeviceCounters& counters,
                                                   const std::function<std::uint32_t(const GpuOp&)>& kind_of) {
  const std::vector<GpuOp> ops = ops_of_device(all, counters.device());
  std::map<std::uint32_t, Pool> pools;
  Run run;
  Ns busy_until = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const GpuOp& op = ops[i];
    const std::uint32_t kind = kind_of(op);
    const bool alone = is_alone(ops, i, i == 0 ? op.span.begin : busy_until);
    busy_until = i == 0 ? op.span.end : std::max(busy_until, op.span.end);
    if (kind == kUnmeasuredKind || !alone) {
      end_run(run, counters, pools);
    } else if (joins(run, op, kind)) {
      run.span.end = op.span.end;
      run.busy += op.span.length();
      ++run.pieces;
    } else {
      end_run(run, counters, pools);
      run = {kind, op.span, op.span.length(), 1};
    }
    if (kind == kUnmeasuredKind) continue;
    Pool& pool = pools[kind];
    ++pool.pieces;
    pool.time += op.span.length();
  }
  end_run(run, counters, pools);
  std::map<std::uint32_t, MeasuredWork> out;
  for (const auto& [kind, pool] : pools) out[kind] = {pool.pieces, pool.pooled, pool.time, counters.over(pool.spans)};
  return out;
}

}  // namespace gapscope
