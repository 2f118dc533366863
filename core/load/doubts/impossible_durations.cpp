// GPU work that lasts past the next work of its stream: durations of the profiler that went wrong. What is within a stream
// was clipped while the trace was built (core/build/clip_work.h); here the last work of each stream, which nothing follows.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/load/doubts/doubts.h"

namespace gapscope {
namespace {

constexpr Ns kLeastOverrun = 100 * kNsPerMs;
constexpr Ns kTimesTheRest = 10;
constexpr std::size_t kLeastWork = 8;  // operations: fewer may well be one long kernel
constexpr double kMuch = 0.10;         // of the recording: what clipped work lasted is a guess

// From this share of the events on, or of the GPU's work, what has no duration may be most of a busy time.
constexpr std::uint64_t kMuchUnread = 20;
// From this share of the GPU's work on that lasts 0 ns it is no rounding of the shortest to microseconds.
constexpr std::uint64_t kMuchZero = 5;

void add_unread_durations(Trace& trace) {
  const std::uint64_t n =
      trace.report.count(ImportIssue::negative_duration) + trace.report.count(ImportIssue::missing_duration);
  std::uint64_t work = 0, without = 0;
  for (const GpuRow& g : trace.gpu)
    if (is_gpu_work(trace.kind(g.slice))) ++work, without += trace.duration(g.slice) == 0 ? 1 : 0;
  if (n == 0 && without >= kLeastWork && without * kMuchZero >= work) {
    trace.doubts.push_back(
        {DoubtKind::impossible_durations, without, "busy time and sums of GPU time",
         fmt::format("{} of {} GPU operations last 0 ns, which is impossible.",
                     format_count(static_cast<std::int64_t>(without)), format_count(static_cast<std::int64_t>(work))),
         false, true, "Record again with a newer version of the profiler."});
  }
  if (n == 0) return;
  const std::uint64_t unread_work = std::min(n, without);
  const std::string among = unread_work == 0 ? ""
                                             : fmt::format(", {} of {} GPU operations among them",
                                                           format_count(static_cast<std::int64_t>(unread_work)),
                                                           format_count(static_cast<std::int64_t>(work)));
  const bool is_much = n * kMuchUnread >= trace.figures.events || unread_work * kMuchUnread > work;
  trace.doubts.push_back({DoubtKind::impossible_durations, n, "busy time and sums of GPU time",
                          fmt::format("{} no readable duration or a negative one{}: {} for 0.",
                                      n == 1 ? "1 slice has" : format_count(static_cast<std::int64_t>(n)) + " slices have",
                                      among, n == 1 ? "it counts" : "they count"),
                          false, is_much, "Record again with a newer version of the profiler."});
}

// The last slice of a lane ends long after all else in the file does: as its duration is wrong.
void clip_last(Trace& trace, LaneId id, Span rest) {
  Lane& lane = trace.lanes[id.index()];
  if (lane.depth_count == 0) return;
  const Row& row = trace.rows[lane.first_row];
  if (row.count == 0) return;
  const std::uint32_t last = row.first + row.count - 1;
  if (!is_gpu_work(trace.kind(SliceId(last)))) return;
  const Ns end = trace.slices.end[last], to = std::max(rest.end, trace.slices.begin[last]);
  if (end - to < std::max(kLeastOverrun, kTimesTheRest * rest.length())) return;
  trace.slices.end[last] = to;
  lane.busy -= end - to;
  lane.total_dur -= end - to;
  lane.span.end = to;
  trace.clipped.push_back(trace.slices.offset[last]);
}

// Of all lanes those of GPUs that end after all else: their last slices say nothing of how long the rest is.
void clip_the_last(Trace& trace) {
  Span rest{};
  bool any = false;
  const auto take = [&](Span span) {
    rest = any ? hull(rest, span) : span;
    any = true;
  };
  for (const Lane& lane : trace.lanes) {
    if (lane.slice_count == 0 || lane.kind == LaneKind::profiler) continue;
    if (lane.kind != LaneKind::gpu_stream) {
      take(lane.span);
      continue;
    }
    const Row& row = trace.rows[lane.first_row];
    const Ns first = trace.slices.begin[row.first], last = trace.slices.begin[row.first + row.count - 1];
    take({first, row.count > 1 ? std::max(last, trace.slices.end[row.first + row.count - 2]) : last});
  }
  for (std::size_t l = 0; l < trace.lanes.size(); ++l)
    if (trace.lanes[l].kind == LaneKind::gpu_stream && trace.lanes[l].slice_count != 0 && trace.lanes[l].span.end > rest.end)
      clip_last(trace, LaneId(l), rest);
}

}  // namespace

void add_impossible_durations(Trace& trace) {
  const std::size_t within = trace.clipped.size();
  if (trace.gpu.size() >= kLeastWork) clip_the_last(trace);
  if (trace.clipped.empty()) return add_unread_durations(trace);
  std::sort(trace.clipped.begin(), trace.clipped.end());
  Ns clipped = 0;
  Span all{};
  bool any = false;
  std::uint64_t work = 0;
  for (const GpuRow& g : trace.gpu) {
    if (!is_gpu_work(trace.kind(g.slice))) continue;
    ++work;
    all = any ? hull(all, trace.span_of(g.slice)) : trace.span_of(g.slice);
    any = true;
    if (std::binary_search(trace.clipped.begin(), trace.clipped.end(), trace.slices.offset[g.slice.index()]))
      clipped += trace.duration(g.slice);
  }
  const bool forbids = static_cast<double>(clipped) > kMuch * static_cast<double>(all.length());
  const std::size_t n = trace.clipped.size();
  trace.doubts.push_back({DoubtKind::impossible_durations, n, "busy time and sums of GPU time",
                          fmt::format("{} of {} GPU operations {} an impossible duration: {} past {}, where {} cut off.",
                                      format_count(static_cast<std::int64_t>(n)), format_count(static_cast<std::int64_t>(work)),
                                      n == 1 ? "has" : "have", n == 1 ? "it lasts" : "they last",
                                      within == 0  ? "the end of all else in the file"
                                      : within < n ? "the next work of their stream or the end of the file"
                                      : n == 1     ? "the next work of its stream"
                                                   : "the next work of their stream",
                                      n == 1 ? "it is" : "they are"),
                          true, forbids, "Record again with a newer version of the profiler."});
}

}  // namespace gapscope
