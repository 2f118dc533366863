#include "core/analyze/gpu/launches.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/radix_sort.h"

namespace gapscope {
namespace {

constexpr std::array<std::string_view, 9> kKernelLaunches = {
    "cudaLaunchKernel", "cudaLaunchKernelExC",   "cudaLaunchCooperativeKernel",
    "cuLaunchKernel",   "cuLaunchKernelEx",      "cuLaunchCooperativeKernel",
    "hipLaunchKernel",  "hipModuleLaunchKernel", "hipExtModuleLaunchKernel"};

// "cudaLaunchKernelExC_v11060", "cudaLaunchKernel_ptsz": the same call under another version of the interface.
std::string_view without_version(std::string_view name) { return name.substr(0, name.find('_')); }

void add_kernel_gaps(const std::vector<GpuOp>& ops, const std::vector<StreamOps>& streams, std::vector<Ns>& gaps) {
  for (const StreamOps& stream : streams) {
    bool any = false;
    Ns end = 0;
    for (const std::uint32_t i : stream.ops) {
      if (!ops[i].is_kernel()) continue;
      if (any) gaps.push_back(std::max<Ns>(0, ops[i].span.begin - end));
      end = any ? std::max(end, ops[i].span.end) : ops[i].span.end;
      any = true;
    }
  }
}

void measure(StreamQueue& queue) {
  double weighted = 0;
  for (std::size_t i = 0; i < queue.points.size(); ++i) {
    const QueuePoint& p = queue.points[i];
    queue.max_depth = std::max(queue.max_depth, p.depth);
    if (i + 1 == queue.points.size()) break;
    const Ns lasts = queue.points[i + 1].time - p.time;
    weighted += static_cast<double>(p.depth) * static_cast<double>(lasts);
    if (p.depth >= kFullQueue) queue.time_full += lasts;
  }
  const Ns whole = queue.points.back().time - queue.points.front().time;
  if (whole > 0) queue.mean_depth = weighted / static_cast<double>(whole);
}

}  // namespace

Ns launch_delay(const GpuOp& op) { return std::max<Ns>(0, op.span.begin - op.launch_span.end); }

// Only the places that are asked for are put in order: the high one first, then the lower ones among what is below.
NsSummary summarize(std::vector<Ns>& values) {
  NsSummary out;
  if (values.empty()) return out;
  const std::size_t n = values.size();
  const auto place = [&](std::size_t at, std::size_t below) {
    const auto begin = values.begin();
    std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(at), begin + static_cast<std::ptrdiff_t>(below));
    return values[at];
  };
  out.count = n;
  const std::size_t nearest = std::min(n - 1, (n * 95 + 99) / 100 - 1);  // nearest rank
  out.p95 = place(nearest, n);
  const Ns high = place(n / 2, std::max(nearest, n / 2) + 1);
  const Ns low = place((n - 1) / 2, n / 2 + 1);
  out.median = low + (high - low) / 2;
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  out.min = *min;
  out.max = *max;
  __int128 total = 0;
  for (const Ns v : values) total += v;
  out.total = static_cast<Ns>(std::min<__int128>(total, std::numeric_limits<Ns>::max()));
  out.mean = static_cast<Ns>(total / static_cast<__int128>(n));
  return out;
}

bool launches_graph(std::string_view name) {
  return name == "cudaGraphLaunch" || name == "hipGraphLaunch" || name.starts_with("cuGraphLaunch (");
}

bool is_kernel_launch_name(std::string_view call_name) {
  for (const std::string_view of_sycl : {"urEnqueueKernelLaunch", "piEnqueueKernelLaunch", "zeCommandListAppendLaunchKernel"})
    if (call_name.starts_with(of_sycl)) return true;
  return std::find(kKernelLaunches.begin(), kKernelLaunches.end(), without_version(call_name)) != kKernelLaunches.end();
}

bool is_synchronization_name(std::string_view call_name) {
  constexpr std::array<std::string_view, 8> kOthers = {"urQueueFinish",   "urEventWait",      "piQueueFinish", "piEventsWait",
                                                       "clWaitForEvents", "aclrtSynchronize", "cnrtQueueSync", "cnQueueSync"};
  return call_name.ends_with("Synchronize") || call_name == "clFinish" ||
         std::any_of(kOthers.begin(), kOthers.end(), [&](std::string_view n) { return call_name.starts_with(n); });
}

LaunchStats launch_stats(const Trace& trace, const std::vector<GpuOp>& ops, const std::vector<StreamOps>& streams) {
  LaunchStats out;
  std::vector<std::int8_t> launches(trace.strings.size(), -1);
  std::vector<Ns> delays, calls;
  delays.reserve(ops.size());
  calls.reserve(ops.size());
  for (const GpuOp& op : ops) {
    if (!op.linked()) {
      ++out.unlinked;
      continue;
    }
    ++out.launched;
    std::int8_t& known = launches[trace.name_id(op.launch).index()];
    if (known < 0) known = is_kernel_launch_name(trace.name(op.launch)) ? 1 : 0;
    if (known == 0 || !op.is_kernel()) continue;
    const Ns delay = launch_delay(op), call = op.launch_span.length();
    delays.push_back(delay);
    calls.push_back(call);
    out.short_kernels += op.span.length() < call && call <= kRuntimeOutlier ? 1 : 0;
    out.runtime_outliers += call > kRuntimeOutlier ? 1 : 0;
    out.delay_outliers += delay > kLaunchDelayOutlier ? 1 : 0;
  }
  out.kernel_launches = delays.size();
  out.delay = summarize(delays);
  out.call_time = summarize(calls);
  std::vector<Ns>& gaps = delays;  // its room, once more
  gaps.clear();
  add_kernel_gaps(ops, streams, gaps);
  out.kernel_gap = summarize(gaps);
  return out;
}

namespace {

// Calls add(stream, launched work) and point(time, depth) for the changes of each stream in turn.
template <class Add, class Point>
void walk_queues(const std::vector<GpuOp>& ops, const std::vector<StreamOps>& streams, Add add, Point point) {
  std::vector<Ns> launched, begun, other;
  for (const StreamOps& stream : streams) {
    launched.clear();
    begun.clear();
    launched.reserve(stream.ops.size());
    begun.reserve(stream.ops.size());
    for (const std::uint32_t i : stream.ops) {
      if (!ops[i].linked()) continue;
      launched.push_back(ops[i].launch_span.begin);
      begun.push_back(std::max(ops[i].span.begin, ops[i].launch_span.begin));  // clocks of CPU and GPU may disagree
    }
    if (launched.empty()) continue;
    radix_sort(launched, other, ordered_bits);
    radix_sort(begun, other, ordered_bits);
    add(stream, launched.size());
    std::int64_t depth = 0;
    for (std::size_t i = 0, j = 0; j < begun.size();) {
      const bool launch = i < launched.size() && launched[i] <= begun[j];
      if (launch)
        point(launched[i++], ++depth);
      else
        point(begun[j++], --depth);
    }
  }
}

}  // namespace

std::vector<StreamQueue> stream_queues(const std::vector<GpuOp>& ops, const std::vector<StreamOps>& streams) {
  std::vector<StreamQueue> out;
  walk_queues(
      ops, streams,
      [&](const StreamOps& stream, std::size_t launched) {
        out.push_back({stream.device, stream.stream, {}, 0, 0, 0});
        out.back().points.reserve(launched * 2);
      },
      [&](Ns time, std::int64_t depth) {
        out.back().points.push_back({time, depth});
      });
  for (StreamQueue& queue : out) measure(queue);
  return out;
}

std::vector<QueueCurve> queue_curves(const std::vector<GpuOp>& ops, const std::vector<StreamOps>& streams) {
  std::vector<QueueCurve> out;
  walk_queues(
      ops, streams,
      [&](const StreamOps& stream, std::size_t launched) {
        out.push_back({stream.device, stream.stream, {}});
        out.back().points.reserve(launched * 2);
      },
      [&](Ns time, std::int64_t depth) { out.back().points.add(time, static_cast<std::int32_t>(depth)); });
  return out;
}

}  // namespace gapscope
