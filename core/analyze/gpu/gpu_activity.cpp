#include "core/analyze/gpu/gpu_activity.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "core/base/class_sweep.h"
#include "core/base/saturating.h"
#include "core/base/span_set.h"
#include "core/trace/crop_mark.h"

namespace gapscope {
namespace {

// By pattern of HTA's get_kernel_type(): where it looks in a name matters.
bool is_hta_communication(std::string_view name) {
  return name.starts_with("nccl") || name.starts_with("hccl") || name.find("ncclKernel") != std::string_view::npos;
}
bool is_hta_memory(std::string_view name) {
  if (name.starts_with("hip")) name.remove_prefix(3);
  return name.starts_with("Memcpy") || name.starts_with("Memset") || name.starts_with("dma");
}

double ratio(Ns part, Ns whole) { return static_cast<double>(part) / static_cast<double>(whole); }

Span hull_of(const std::vector<GpuOp>& ops, bool linked_only) {
  Span span{0, 0};
  bool any = false;
  for (const GpuOp& op : ops) {
    if (linked_only && !op.linked()) continue;
    span = any ? hull(span, op.span) : op.span;
    any = true;
  }
  return span;
}

bool is_cpu_work(Kind k) { return k == Kind::op || k == Kind::annotation || k == Kind::python || is_call(k); }

// Calls visit(device, its operations in their order) for each device that did work, ascending.
template <class Visit>
void each_device(const std::vector<GpuOp>& ops, Visit visit) {
  if (ops.empty()) return;
  if (std::all_of(ops.begin(), ops.end(), [&](const GpuOp& op) { return op.device == ops[0].device; }))
    return visit(ops[0].device, ops);
  std::map<std::int32_t, std::vector<std::uint32_t>> by_device;
  std::vector<std::uint32_t>* of_last = nullptr;  // most operations follow one of their own device
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (!of_last || ops[i].device != ops[i - 1].device) of_last = &by_device[ops[i].device];
    of_last->push_back(i);
  }
  std::vector<GpuOp> own;
  for (const auto& [device, positions] : by_device) {
    own.clear();
    for (const std::uint32_t i : positions) own.push_back(ops[i]);
    visit(device, own);
  }
}

}  // namespace

GpuTimeline gpu_timeline(const std::vector<GpuOp>& ops, bool linked_only) {
  constexpr std::size_t kCompute = 0, kCommunication = 1, kCopy = 2;
  GpuTimeline t;
  ClassSweep<3> sweep;
  for (const GpuOp& op : ops) {
    if (linked_only && !op.linked()) continue;
    ++t.count;
    sweep.add(op.gpu_class == GpuClass::copy            ? kCopy
              : op.gpu_class == GpuClass::communication ? kCommunication
                                                        : kCompute,
              op.span);
  }
  const auto& together = sweep.finish();
  const Ns kernels = time_with(together, 1 << kCompute | 1 << kCommunication);
  t.span = hull_of(ops, linked_only);
  t.total = t.span.length();
  t.busy = time_with(together, ~std::size_t{0});
  t.idle = t.total - t.busy;
  t.compute = time_with(together, 1 << kCompute);
  t.communication = time_with(together, 1 << kCommunication);
  t.exposed_communication = kernels - t.compute;
  t.copy = time_with(together, 1 << kCopy);
  t.exposed_copy = t.busy - kernels;
  return t;
}

HtaClass hta_class(std::string_view name) {
  if (is_hta_communication(name)) return HtaClass::communication;
  return is_hta_memory(name) ? HtaClass::memory : HtaClass::computation;
}

namespace {

// The classes of a trace's names, each read once.
class HtaNames {
 public:
  explicit HtaNames(const Trace& trace) : trace_(trace), known_(trace.strings.size(), -1) {}

  HtaClass of(SliceId slice) {
    std::int8_t& known = known_[trace_.name_id(slice).index()];
    if (known < 0) known = static_cast<std::int8_t>(hta_class(trace_.name(slice)));
    return static_cast<HtaClass>(known);
  }

 private:
  const Trace& trace_;
  std::vector<std::int8_t> known_;  // by name; -1: not yet
};

HtaBreakdown breakdown(HtaNames& names, const std::vector<GpuOp>& ops) {
  constexpr std::size_t kCompute = 1 << static_cast<int>(HtaClass::computation);
  constexpr std::size_t kCommunication = 1 << static_cast<int>(HtaClass::communication);
  ClassSweep<3> sweep;
  for (const GpuOp& op : ops) sweep.add(static_cast<std::size_t>(names.of(op.slice)), op.span);
  HtaBreakdown out;
  out.together = sweep.finish();
  out.kernel_time = hull_of(ops, false).length();
  out.idle = out.kernel_time - time_with(out.together, ~std::size_t{0});
  out.compute = time_with(out.together, kCompute);
  out.non_compute = out.kernel_time - out.compute - out.idle;
  if (const Ns whole = time_with(out.together, kCommunication); whole > 0) {
    const Ns hidden = whole + out.compute - time_with(out.together, kCompute | kCommunication);
    out.overlap = ratio(hidden, whole);
  }
  return out;
}

}  // namespace

GpuFigures gpu_figures(const Trace& trace, const std::vector<GpuOp>& ops, const GpuSeries& series, Span over) {
  GpuFigures out;
  if (over.empty() || std::none_of(ops.begin(), ops.end(), [](const GpuOp& op) { return op.is_kernel(); })) return out;
  out.utilization = series.utilization(over);
  if (series.has_sm_efficiency()) out.sm_efficiency = series.sm_efficiency(over);
  double weighted = 0;
  Ns time = 0;
  for (const GpuOp& op : ops) {
    const float percent = trace.gpu[op.gpu_row].occupancy_percent;
    if (!op.is_kernel() || !(percent >= 0)) continue;  // a NaN in a damaged file compares false
    const Ns inside = intersect(op.span, over).length();
    weighted += static_cast<double>(percent) * static_cast<double>(inside);
    add_saturating(time, inside);
  }
  if (time > 0) out.achieved_occupancy_percent = weighted / static_cast<double>(time);
  return out;
}

std::vector<GpuActivity> gpu_activity(const Trace& trace, const std::vector<GpuOp>& ops, const Steps& steps,
                                      std::vector<GpuSeries>* series) {
  std::vector<GpuActivity> out;
  HtaNames names(trace);
  each_device(ops, [&](std::int32_t device, const std::vector<GpuOp>& own) {
    GpuActivity a;
    a.device = device;
    a.all = gpu_timeline(own, false);
    for (const GpuOp& op : own) {
      a.unlinked_count += op.linked() ? 0 : 1;
      if (!op.linked()) add_saturating(a.unlinked_time, op.span.length());
    }
    a.any_linked = a.unlinked_count < own.size();
    a.linked = a.any_linked && a.unlinked_count > 0 ? gpu_timeline(own, true) : a.all;
    // Without marked steps and launches nothing says which of the host's time was this GPU's.
    const bool of_host = steps.are_marked() || (!steps.annotated && a.any_linked);
    a.over = steps.span().empty() || !of_host ? a.all.span : steps.span();
    if (const auto longest = std::max_element(trace.recordings.begin(), trace.recordings.end(),
                                              [](Span x, Span y) { return x.length() < y.length(); });
        longest != trace.recordings.end() && !intersect(a.over, *longest).empty())
      a.over = intersect(a.over, *longest);  // nothing is known of what is between recordings
    GpuSeries over_time(trace, own);
    a.figures = gpu_figures(trace, own, over_time, a.over);
    if (series) series->push_back(std::move(over_time));
    a.hta = breakdown(names, own);
    out.push_back(a);
  });
  return out;
}

namespace {

Span window_of_all(const Trace& trace, const std::vector<GpuOp>& ops) {
  const std::vector<SliceId> steps = profiler_steps(trace);
  Span window{0, 0};
  bool any = false;
  const auto add = [&](Span s) {
    window = any ? hull(window, s) : s;
    any = true;
  };
  if (!steps.empty()) {
    for (const SliceId s : steps) add(trace.span_of(s));
    if (const Ns last = hull_of(ops, true).end; last > window.end) window.end = last;
    return window;
  }
  SliceId last;  // of the CPU slices the one that ends last; a device synchronization there closes the recording
  Ns end_of_others = std::numeric_limits<Ns>::min();
  for (std::size_t i = 0; i < trace.slice_count(); ++i) {
    const SliceId s(i);
    if (!is_cpu_work(trace.kind(s)) || trace.lane(s).is_async) continue;
    const Span span = trace.span_of(s);
    if (!any || span.end > trace.end(last)) {
      if (any) end_of_others = trace.end(last);
      last = s;
    } else {
      end_of_others = std::max(end_of_others, span.end);
    }
    add(span);
  }
  if (!any) return hull_of(ops, false);
  if (is_call(trace.kind(last)) && trace.name(last).ends_with("DeviceSynchronize"))
    window.end = std::max(window.begin, end_of_others);
  if (const Ns linked_end = hull_of(ops, true).end; linked_end > window.end) window.end = linked_end;
  return window;
}

}  // namespace

Span analysis_window(const Trace& trace, const std::vector<GpuOp>& ops) {
  const Span window = window_of_all(trace, ops);
  const std::optional<CropMark> crop = crop_mark(trace);
  const Span inside = crop ? intersect(window, crop->window) : window;
  return inside.empty() ? window : inside;
}

GpuUse gpu_use(const Trace& trace, const std::vector<GpuOp>& ops) {
  GpuUse out;
  out.window = analysis_window(trace, ops);
  SpanSet all, linked;
  for (const GpuOp& op : ops) {
    append(all, op.span);
    if (op.linked()) append(linked, op.span);
  }
  out.busy = length_within(all, out.window);
  out.length = out.window.length();
  for (std::size_t i = 1; i < trace.recordings.size(); ++i)
    out.length -= std::max(Ns{0}, intersect(Span{trace.recordings[i - 1].end, trace.recordings[i].begin}, out.window).length());
  if (!out.window.empty()) out.gpu_util = ratio(out.busy, out.length);
  if (!linked.empty()) out.gpu_window_util = ratio(length(linked), linked.back().end - linked.front().begin);
  return out;
}

}  // namespace gapscope
