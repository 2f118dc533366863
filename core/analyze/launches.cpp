#include "core/analyze/launches.h"

#include <algorithm>
#include <array>

namespace gapscope {
namespace {

constexpr std::array<std::string_view, 9> kKernelLaunches = {
    "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel", "cuLaunchKernel", "cuLaunchKernelEx",
    "cuLaunchCooperativeKernel", "hipLaunchKernel", "hipModuleLaunchKernel", "hipExtModuleLaunchKernel"};

// "cudaLaunchKernelExC_v11060", "cudaLaunchKernel_ptsz": the same call under another version of the interface.
std::string_view without_version(std::string_view name) { return name.substr(0, name.find('_')); }

void add_kernel_gaps(const std::vector<GpuOp>& ops, std::vector<Ns>& gaps) {
  for (const StreamOps& stream : streams_of(ops)) {
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

NsSummary summarize(std::vector<Ns> values) {
  NsSummary out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  out.count = n;
  out.min = values.front();
  out.max = values.back();
  const Ns low = values[(n - 1) / 2], high = values[n / 2];
  out.median = low + (high - low) / 2;
  out.p95 = values[std::min(n - 1, (n * 95 + 99) / 100 - 1)];  // nearest rank
  for (const Ns v : values) out.total += v;
  out.mean = out.total / static_cast<Ns>(n);
  return out;
}

bool is_kernel_launch_name(std::string_view call_name) {
  return std::find(kKernelLaunches.begin(), kKernelLaunches.end(), without_version(call_name)) != kKernelLaunches.end();
}

LaunchStats launch_stats(const Trace& trace, const std::vector<GpuOp>& ops) {
  LaunchStats out;
  std::vector<std::int8_t> launches(trace.strings.size(), -1);
  std::vector<Ns> delays, calls, gaps;
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
  add_kernel_gaps(ops, gaps);
  out.kernel_launches = delays.size();
  out.delay = summarize(std::move(delays));
  out.call_time = summarize(std::move(calls));
  out.kernel_gap = summarize(std::move(gaps));
  return out;
}

namespace {

// Calls add(stream, launched work) and point(time, depth) for the changes of each stream in turn.
template <class Add, class Point>
void walk_queues(const std::vector<GpuOp>& ops, Add add, Point point) {
  for (const StreamOps& stream : streams_of(ops)) {
    std::vector<Ns> launched, begun;
    launched.reserve(stream.ops.size());
    begun.reserve(stream.ops.size());
    for (const std::uint32_t i : stream.ops) {
      if (!ops[i].linked()) continue;
      launched.push_back(ops[i].launch_span.begin);
      begun.push_back(std::max(ops[i].span.begin, ops[i].launch_span.begin));  // clocks of CPU and GPU may disagree
    }
    if (launched.empty()) continue;
    std::sort(launched.begin(), launched.end());
    std::sort(begun.begin(), begun.end());
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

std::vector<StreamQueue> stream_queues(const std::vector<GpuOp>& ops) {
  std::vector<StreamQueue> out;
  walk_queues(
      ops,
      [&](const StreamOps& stream, std::size_t launched) {
        out.push_back({stream.device, stream.stream, {}, 0, 0, 0});
        out.back().points.reserve(launched * 2);
      },
      [&](Ns time, std::int64_t depth) { out.back().points.push_back({time, depth}); });
  for (StreamQueue& queue : out) measure(queue);
  return out;
}

std::vector<QueueCurve> queue_curves(const std::vector<GpuOp>& ops) {
  std::vector<QueueCurve> out;
  walk_queues(
      ops,
      [&](const StreamOps& stream, std::size_t launched) {
        out.push_back({stream.device, stream.stream, {}});
        out.back().points.reserve(launched * 2);
      },
      [&](Ns time, std::int64_t depth) { out.back().points.add(time, static_cast<std::int32_t>(depth)); });
  return out;
}

}  // namespace gapscope
