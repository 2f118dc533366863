#include "core/view/timeline/first_view.h"

#include <optional>

#include "core/trace/crop_mark.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {
namespace {

constexpr double kMostShare = 2.0 / 3;
constexpr double kSeen = 0.02;  // of the axis: what is shorter is enlarged
constexpr double kAround = 6;   // times as much time as where it fills the axis

// From the first begin to the last end on threads and GPU streams; empty where there are none.
Span span_of_work(const Trace& trace) {
  Span work;
  for (const Row& row : trace.rows) {
    const LaneKind kind = trace.lane(row.lane).kind;
    if ((kind != LaneKind::cpu_thread && kind != LaneKind::gpu_stream) || row.count == 0) continue;
    const Span of_row{trace.begin(SliceId(row.first)), trace.end(SliceId(row.first + row.count - 1))};
    work = work.empty() ? of_row : hull(work, of_row);
  }
  return work;
}

// Of a crop the time that was cropped to.
std::optional<Span> cropped_part(const Trace& trace) {
  const std::optional<CropMark> crop = crop_mark(trace);
  if (!crop || crop->window == crop->whole) return std::nullopt;
  const Span part = intersect(crop->window, trace.span);
  return part.empty() ? std::nullopt : std::optional(part);
}

}  // namespace

TimeView whole_view(const TraceView& view, const Trace& trace) {
  const Span reach = axis_reach(view, trace.span);
  const std::optional<Span> part = reach == trace.span ? cropped_part(trace) : std::nullopt;
  return part ? within_limits(fit(*part), reach) : fit(reach);
}

TimeView first_view(const Trace& trace) {
  if (const std::optional<Span> part = cropped_part(trace)) return within_limits(fit(*part), trace.span);
  const Span work = span_of_work(trace);
  const bool is_most = static_cast<double>(work.length()) > kMostShare * static_cast<double>(trace.span.length());
  return work.empty() || is_most ? fit(trace.span) : within_limits(fit(work), trace.span);
}

void enlarge(TraceView& view, const WindowState& window, Span target, const Trace& trace) {
  const double now = visible_ns(view.move.active ? view.move.to : view.time), length = static_cast<double>(target.length());
  const Span reach = axis_reach(view, trace.span);
  if (length > now) return go_to(view, window, focused_on(target, reach));
  if (length >= kSeen * now) return;
  const TimeView large = zoomed(focused_on(target, reach), kAround, 0.5, reach);
  if (visible_ns(large) < now) go_to(view, window, large);
}

}  // namespace gapscope
