#include "core/analyze/doubts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/analyze/captured/captures.h"
#include "core/analyze/gpu/launches.h"
#include "core/base/span_set.h"
#include "core/base/text.h"
#include "core/trace/crop_mark.h"

namespace gapscope {
namespace {

// A few at the end of a recording are cut off in passing; one in twenty is a loss, one in ten leaves no verdict.
constexpr std::uint64_t kLeastLostShare = 20, kLeastToForbid = 10;

// Lane by lane, when calls were recorded into a graph instead of run.
std::vector<SpanSet> capturing(const Trace& trace, const std::vector<std::uint8_t>& use) {
  std::vector<SpanSet> out(trace.lanes.size());
  std::vector<SliceId> marks;
  for (const Call& call : trace.calls)
    if (use[trace.name_id(call.slice).index()] > 1) marks.push_back(call.slice);
  std::sort(marks.begin(), marks.end(), [&](SliceId a, SliceId b) {
    return std::pair(trace.lane_id(a), trace.begin(a)) < std::pair(trace.lane_id(b), trace.begin(b));
  });
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (use[trace.name_id(marks[i]).index()] != 2) continue;
    std::size_t end = i + 1;
    while (end < marks.size() && trace.lane_id(marks[end]) == trace.lane_id(marks[i]) &&
           use[trace.name_id(marks[end]).index()] != 3)
      ++end;
    const bool ends = end < marks.size() && trace.lane_id(marks[end]) == trace.lane_id(marks[i]);
    append(out[trace.lane_id(marks[i]).index()], {trace.begin(marks[i]), ends ? trace.end(marks[end]) : trace.span.end});
  }
  return out;
}

// Where in the launches the lost ones are, in words.
std::string_view place_words(const Trace& trace, const LostLaunches& l, Span recorded) {
  if (l.lost.size() == l.launches) return "";
  if (l.only_at_end) return ", all at the end of the recording";
  Ns last = std::numeric_limits<Ns>::min();
  for (const SliceId s : l.lost) last = std::max(last, trace.begin(s));
  std::uint64_t before = 0;
  for (const SliceId s : l.lost) before += trace.begin(s) < recorded.begin + recorded.length() / 2 ? 1 : 0;
  if (before == l.lost.size()) return ", all in its first half";
  return before == 0 ? ", all in its second half" : "";
}

// GPUs that still worked on earlier launches when the recording ended: what the last ones started comes after it, and what is
// within is known.
bool ends_at_work(const Trace& trace, const std::vector<GpuOp>& ops, const LostLaunches& l) {
  if (!l.only_at_end) return false;
  std::map<std::int32_t, Ns> last;
  for (const GpuOp& op : ops) {
    Ns& end = last.try_emplace(op.device, std::numeric_limits<Ns>::min()).first->second;
    end = std::max(end, op.span.end);
  }
  Ns last_lost = std::numeric_limits<Ns>::min();
  for (const SliceId s : l.lost) last_lost = std::max(last_lost, trace.begin(s));
  const Ns room = trace.span.length() / 100;
  return std::all_of(last.begin(), last.end(), [&](const auto& device) { return device.second + room >= last_lost; });
}

std::optional<Doubt> doubt_of_losses(const Trace& trace, const std::vector<GpuOp>& ops) {
  const LostLaunches l = lost_launches(trace, ops);
  const std::uint64_t lost = l.lost.size();
  if (lost == 0 || lost * kLeastLostShare < l.launches || capture_recording(trace)) return std::nullopt;
  if (ops.empty() && crop_mark(trace)) return std::nullopt;  // what they launched is outside
  const auto shown = [](std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); };
  if (ends_at_work(trace, ops, l))
    return Doubt{DoubtKind::lost_kernels,
                 lost,
                 "the work of the last launches",
                 fmt::format("The recording ends before the GPU work of its last {} launches, of {}, begins. The GPU was still "
                             "busy with earlier work.",
                             shown(lost), shown(l.launches)),
                 false,
                 false,
                 "Let the GPU finish before the profiler stops (torch.cuda.synchronize())."};
  return Doubt{DoubtKind::lost_kernels,
               lost,
               "busy time, idle time and its causes",
               fmt::format("The GPU work of {} of {} launches is missing{}.", shown(lost), shown(l.launches),
                           place_words(trace, l, trace.span)),
               false,
               lost * kLeastToForbid >= l.launches,
               l.only_at_end ? "Record again, and let the GPU finish before the profiler stops (torch.cuda.synchronize())."
                             : "Record again after a few warm-up steps, with fewer steps and without other profilers."};
}

}  // namespace

LostLaunches lost_launches(const Trace& trace, const std::vector<GpuOp>& ops) {
  LostLaunches out;
  if (!ops.empty() && std::none_of(ops.begin(), ops.end(), [](const GpuOp& op) { return op.linked(); })) return out;
  if (std::any_of(trace.categories.begin(), trace.categories.end(),
                  [&](const Category& c) { return trace.strings[c.name] == "cuda_profiler_range"; }))
    return out;
  std::vector<std::uint8_t> use(trace.strings.size());  // 1: launches work, 2: begins a capture, 3: ends one
  bool any_capture = false;
  for (std::size_t i = 0; i < use.size(); ++i) {
    const std::string_view name = trace.strings[StringId(i)];
    if (is_kernel_launch_name(name) || launches_graph(name))
      use[i] = 1;
    else if (name.find("StreamBeginCapture") != name.npos)
      use[i] = 2, any_capture = true;
    else if (name.find("StreamEndCapture") != name.npos)
      use[i] = 3;
  }
  std::vector<bool> started(trace.slice_count());
  for (const GpuOp& op : ops)
    if (op.linked()) started[op.launch.index()] = true;
  const std::vector<SpanSet> captured = any_capture ? capturing(trace, use) : std::vector<SpanSet>();
  Ns last_started = std::numeric_limits<Ns>::min(), first_lost = std::numeric_limits<Ns>::max();
  for (const Call& call : trace.calls) {
    if (use[trace.name_id(call.slice).index()] != 1) continue;
    if (any_capture && length_within(captured[trace.lane_id(call.slice).index()], trace.span_of(call.slice)) > 0) continue;
    ++out.launches;
    if (started[call.slice.index()]) {
      last_started = std::max(last_started, trace.begin(call.slice));
    } else {
      first_lost = std::min(first_lost, trace.begin(call.slice));
      out.lost.push_back(call.slice);
    }
  }
  out.only_at_end = !out.lost.empty() && out.lost.size() < out.launches && first_lost > last_started;
  return out;
}

std::vector<Doubt> doubts_of(const Trace& trace, const std::vector<GpuOp>& ops) {
  std::vector<Doubt> out = trace.doubts;
  if (std::optional<Doubt> lost = doubt_of_losses(trace, ops)) out.push_back(*std::move(lost));
  std::stable_sort(out.begin(), out.end(), [](const Doubt& a, const Doubt& b) { return a.kind < b.kind; });
  return out;
}

}  // namespace gapscope
