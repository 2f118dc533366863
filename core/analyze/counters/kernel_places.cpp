#include "core/analyze/counters/kernel_places.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gapscope {
namespace {

// Launches of one name with nothing else on the GPU between or beside them, and no gap to speak of.
struct Run {
  StringId name;
  Span span;
  Ns busy = 0;
  std::uint64_t launches = 0;
};
constexpr double kMostIdle = 0.05;  // of a run, by which its shares come out too small

bool joins(const Run& run, const GpuOp& op, StringId name) {
  if (run.launches == 0 || run.name != name || op.span.begin < run.span.end) return false;
  const Ns idle = op.span.begin - run.span.begin - run.busy;
  return static_cast<double>(idle) <= kMostIdle * static_cast<double>(op.span.end - run.span.begin);
}

struct Pool {
  std::uint64_t launches = 0, pooled = 0;
  Ns time = 0;
  std::vector<Span> spans;
};

// Nothing else runs beside it. `ops` are in time order, and those before it end at `busy_until`.
bool is_alone(const std::vector<GpuOp>& ops, std::size_t at, Ns busy_until) {
  return ops[at].span.begin >= busy_until && (at + 1 == ops.size() || ops[at + 1].span.begin >= ops[at].span.end);
}

// A run of less than two samples would be measured by what its neighbours do.
void end_run(Run& run, const DeviceCounters& device, std::map<std::uint32_t, Pool>& pools) {
  if (run.launches > 0 && device.over(run.span).measured()) {
    Pool& pool = pools[static_cast<std::uint32_t>(run.name.index())];
    pool.spans.push_back(run.span);
    pool.pooled += run.launches;
  }
  run = {};
}

std::map<std::uint32_t, Pool> pool_kernels(const Trace& trace, const std::vector<GpuOp>& ops, const DeviceCounters& device) {
  std::map<std::uint32_t, Pool> pools;
  Run run;
  Ns busy_until = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const GpuOp& op = ops[i];
    const StringId name = trace.slices.name[op.slice.index()];
    const bool alone = is_alone(ops, i, i == 0 ? op.span.begin : busy_until);
    busy_until = i == 0 ? op.span.end : std::max(busy_until, op.span.end);
    if (!op.is_kernel() || !alone) {
      end_run(run, device, pools);
    } else if (joins(run, op, name)) {
      run.span.end = op.span.end;
      run.busy += op.span.length();
      ++run.launches;
    } else {
      end_run(run, device, pools);
      run = {name, op.span, op.span.length(), 1};
    }
    if (!op.is_kernel()) continue;
    Pool& pool = pools[static_cast<std::uint32_t>(name.index())];
    ++pool.launches;
    pool.time += op.span.length();
  }
  end_run(run, device, pools);
  return pools;
}

}  // namespace

std::string_view place_name(KernelPlace place) {
  switch (place) {
    case KernelPlace::tensor_bound: return "tensor-bound";
    case KernelPlace::memory_bound: return "memory-bound";
    case KernelPlace::latency_bound: return "latency-bound";
    case KernelPlace::unmeasured: break;
  }
  return "too short to measure";
}

KernelPlace place_of(const CounterMeans& means) {
  if (!means.measured() || !means.knows(CounterKind::dram_share)) return KernelPlace::unmeasured;
  const double dram = means[CounterKind::dram_share];
  const double tensor = means.knows(CounterKind::tensor) ? means[CounterKind::tensor] : 0;
  if (std::max(dram, tensor) <= kBoundShare) return KernelPlace::latency_bound;
  return dram >= tensor ? KernelPlace::memory_bound : KernelPlace::tensor_bound;
}

std::vector<MeasuredKernel> measure_kernels(const Trace& trace, const std::vector<GpuOp>& ops,
                                            const std::vector<DeviceCounters>& counters) {
  std::vector<MeasuredKernel> all;
  for (const DeviceCounters& device : counters) {
    for (const auto& [name, pool] : pool_kernels(trace, ops_of_device(ops, device.device()), device)) {
      if (pool.launches == 0) continue;
      MeasuredKernel kernel{
          StringId(name), device.device(), pool.launches, pool.time, pool.pooled, device.over(pool.spans), {}};
      kernel.place = place_of(kernel.means);
      all.push_back(kernel);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  return all;
}

}  // namespace gapscope
