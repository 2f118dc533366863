#pragma once
// From the call to the GPU: how long launches wait, how deep the queues are, by HTA's definitions (cuda_kernel_analysis.py,
// trace_counters.py).
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/base/step_points.h"

namespace gapscope {

constexpr Ns kRuntimeOutlier = 50 * kNsPerUs;       // HTA's runtime_cutoff: a longer call is an outlier
constexpr Ns kLaunchDelayOutlier = 100 * kNsPerUs;  // HTA's launch_delay_cutoff
constexpr std::int64_t kFullQueue = 1024;           // launches that CUDA queues before a further launch blocks (HTA)

// Time from the end of the launching call to the begin of the operation; 0 when it began earlier. `op` must be linked.
Ns launch_delay(const GpuOp& op);

// Order statistics of some durations; all 0 when there are none.
struct NsSummary {
  std::uint64_t count = 0;
  Ns min = 0, median = 0, p95 = 0, max = 0;
  Ns mean = 0;  // rounded down
  Ns total = 0;
};
NsSummary summarize(std::vector<Ns>& values);  // puts them in another order

struct LaunchStats {
  std::uint64_t launched = 0;         // linked operations of any kind
  std::uint64_t unlinked = 0;         // operations without a launch in the file
  std::uint64_t kernel_launches = 0;  // linked kernels that a launch call for one kernel started: what the next five refer to
  NsSummary delay;                    // launch_delay of these
  std::uint64_t short_kernels = 0;    // shorter than their call, and the call no outlier
  std::uint64_t runtime_outliers = 0;
  std::uint64_t delay_outliers = 0;
  NsSummary call_time;   // durations of their calls
  NsSummary kernel_gap;  // between consecutive kernels of a stream; 0 where they touch or overlap
};
// `streams`: streams_of(ops), here and below.
LaunchStats launch_stats(const Trace& trace, const std::vector<GpuOp>& ops, const std::vector<StreamOps>& streams);

// Calls that launch one kernel each: cudaLaunchKernel, cudaLaunchKernelExC, their driver and HIP twins. Not graph launches.
bool is_kernel_launch_name(std::string_view call_name);
// Calls that return once the device has done what they wait for: cudaStreamSynchronize, urQueueFinish, aclrtSynchronizeStream.
bool is_synchronization_name(std::string_view call_name);

// Calls that launch a whole graph: cudaGraphLaunch, hipGraphLaunch, and XLA's "cuGraphLaunch (CudaGraph:5)".
bool launches_graph(std::string_view call_name);

// Launched and not yet begun, on one stream.
struct QueuePoint {
  Ns time;
  std::int64_t depth;  // from `time` on
};
struct StreamQueue {
  std::int32_t device = 0;
  std::int32_t stream = -1;
  std::vector<QueuePoint> points;  // one a launch and one a begin, in time order; launches first where they meet
  std::int64_t max_depth = 0;
  Ns time_full = 0;       // at kFullQueue or deeper
  double mean_depth = 0;  // over the time from the first to the last point
};
// The same over time, to be kept.
struct QueueCurve {
  std::int32_t device = 0;
  std::int32_t stream = -1;
  StepPoints points;
};
std::vector<QueueCurve> queue_curves(const std::vector<GpuOp>& ops, const std::vector<StreamOps>& streams);

std::vector<StreamQueue> stream_queues(const std::vector<GpuOp>& ops, const std::vector<StreamOps>& streams);

}  // namespace gapscope
