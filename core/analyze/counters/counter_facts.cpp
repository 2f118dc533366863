#include "core/analyze/counters/counter_facts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gapscope {
namespace {

SpanSet busy_of(const std::vector<GpuOp>& ops) {
  std::vector<Span> spans;
  for (const GpuOp& op : ops) spans.push_back(op.span);
  return span_set(std::move(spans));
}

// Whether other work of its device runs at the same time.
bool is_shared(const std::vector<GpuOp>& ops, const GpuOp& own) {
  return std::any_of(ops.begin(), ops.end(), [&](const GpuOp& op) {
    return op.device == own.device && op.slice != own.slice && op.span.overlaps(own.span);
  });
}

}  // namespace

CounterFacts::CounterFacts(const Trace& trace, const LinkIndex& links, const std::vector<GpuOp>& ops)
    : devices_(gpu_counters(trace)) {
  if (devices_.empty()) return;
  ops_ = ops;
  for (const DeviceCounters& device : devices_) {
    busy_.push_back(busy_of(ops_of_device(ops_, device.device())));
    means_.push_back(device.over(busy_.back()));
  }
  kernels_ = measure_kernels(trace, ops_, devices_);
  roofline_ = roofline_points(trace, links, ops_, kernels_);
}

const DeviceCounters* CounterFacts::device(std::int32_t id) const {
  const auto at = std::find_if(devices_.begin(), devices_.end(), [&](const DeviceCounters& d) { return d.device() == id; });
  return at == devices_.end() ? nullptr : &*at;
}

SpanSet CounterFacts::busy(const DeviceCounters& device, Span range) const { return clip(busy_[position(device)], range); }

CounterMeans CounterFacts::while_busy(const DeviceCounters& device, Span range) const {
  return device.over(busy(device, range));
}

const MeasuredKernel* CounterFacts::kernel(StringId name, std::int32_t device) const {
  const auto at = std::find_if(kernels_.begin(), kernels_.end(),
                               [&](const MeasuredKernel& k) { return k.name == name && k.device == device; });
  return at == kernels_.end() ? nullptr : &*at;
}

SliceCounters CounterFacts::of_gpu_work(const Trace& trace, SliceId slice, std::int32_t device) const {
  const DeviceCounters* counters = this->device(device);
  if (!counters) return {};
  SliceCounters out{SliceCounters::From::itself, device, 1, false, counters->over(trace.span_of(slice))};
  const auto own = std::find_if(ops_.begin(), ops_.end(), [&](const GpuOp& op) { return op.slice == slice; });
  if (own == ops_.end()) return out;  // an annotation
  out.shared = is_shared(ops_, *own);
  const MeasuredKernel* pool = own->is_kernel() ? kernel(trace.name_id(slice), device) : nullptr;
  if (out.means.measured() || !pool || pool->pooled == 0) return out;
  return {SliceCounters::From::pooled, device, pool->pooled, false, pool->means};
}

SliceCounters CounterFacts::of_launched(const Trace& trace, SliceId slice) const {
  const Span span = trace.span_of(slice);
  const LaneId lane = trace.lane_id(slice);
  const bool any_thread = trace.kind(slice) == Kind::annotation;
  std::map<std::int32_t, std::pair<std::vector<Span>, Ns>> by_device;
  std::map<std::int32_t, std::uint64_t> launches;
  for (const GpuOp& op : ops_) {
    if (!op.linked() || !span.contains(op.launch_span.begin)) continue;
    const LaneId from = trace.lane_id(op.launch);
    if (from != lane && !(any_thread && trace.lane(from).process == trace.lane(lane).process)) continue;
    auto& [spans, time] = by_device[op.device];
    spans.push_back(op.span);
    time += op.span.length();
    ++launches[op.device];
  }
  const auto most = std::max_element(by_device.begin(), by_device.end(),
                                     [](const auto& a, const auto& b) { return a.second.second < b.second.second; });
  const DeviceCounters* counters = most == by_device.end() ? nullptr : device(most->first);
  if (!counters) return {};
  return {SliceCounters::From::launched, most->first, launches[most->first], false,
          counters->over(span_set(std::move(most->second.first)))};
}

SliceCounters CounterFacts::of_slice(const Trace& trace, SliceId slice) const {
  if (empty()) return {};
  if (const GpuRow* row = trace.gpu_row(slice)) return of_gpu_work(trace, slice, row->device);
  const Process& process = trace.processes[trace.lane(trace.lane_id(slice)).process.index()];
  return process.is_gpu ? of_gpu_work(trace, slice, process.device) : of_launched(trace, slice);
}

}  // namespace gapscope
