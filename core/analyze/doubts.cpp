#include "core/analyze/doubts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
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

// cnInvokeKernel, topsLaunchKernel, urEnqueueKernelLaunch: whatever became of what they launched.
bool says_launch(std::string_view call) {
  return contains_ignore_case(call, "LaunchKernel") || contains_ignore_case(call, "InvokeKernel") ||
         contains_ignore_case(call, "EnqueueKernel");
}

// Calls of other names that launch kernels, too, as most of theirs in the file did: cnInvokeKernel, runFunction. And of copies
// where not one was recorded.
void add_other_launches(const Trace& trace, const std::vector<GpuOp>& ops, const std::vector<bool>& started,
                        std::vector<std::uint8_t>& use) {
  constexpr std::uint32_t kLeastCopies = 10;
  struct Calls {
    std::uint32_t all = 0, started = 0;
    bool of_kernels = false, of_runtime = false;
  };
  std::unordered_map<std::uint32_t, Calls> calls;
  for (const Call& call : trace.calls) {
    Calls& of = calls[trace.name_id(call.slice).value];
    ++of.all;
    of.started += started[call.slice.index()] ? 1 : 0;
    of.of_runtime |= trace.kind(call.slice) == Kind::runtime;  // a driver's calls are within those
  }
  for (const GpuOp& op : ops)
    if (op.linked() && op.is_kernel()) calls[trace.name_id(op.launch).value].of_kernels = true;
  const bool any_copy = std::any_of(ops.begin(), ops.end(), [](const GpuOp& op) { return op.gpu_class == GpuClass::copy; });
  for (const auto& [name, of] : calls) {
    const bool is_lost_copy = !ops.empty() && !any_copy && of.started == 0 && of.all >= kLeastCopies &&
                              trace.strings[StringId(name)].find("MemcpyAsync") != std::string_view::npos;
    const bool launches =
        (of.of_kernels && 2 * of.started >= of.all) || (of.of_runtime && says_launch(trace.strings[StringId(name)]));
    if (use[name] == 0 && (launches || is_lost_copy)) use[name] = 1;
  }
}

// Launches lane by lane; those within others behind them. Slices are in order of their depths.
std::vector<SliceId> in_time_order(const Trace& trace, const std::vector<std::uint8_t>& use) {
  std::vector<SliceId> out;
  for (const Call& call : trace.calls)
    if (use[trace.name_id(call.slice).index()] == 1) out.push_back(call.slice);
  const auto before = [&](SliceId a, SliceId b) {
    return std::tuple(trace.lane_id(a), trace.begin(a), -trace.end(a), a) <
           std::tuple(trace.lane_id(b), trace.begin(b), -trace.end(b), b);
  };
  if (!std::is_sorted(out.begin(), out.end(), before)) std::sort(out.begin(), out.end(), before);
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
                 trace.producer->wait};
  return Doubt{DoubtKind::lost_kernels,
               lost,
               "busy time, idle time and its causes",
               fmt::format("The GPU work of {} of {} launches is missing{}.", shown(lost), shown(l.launches),
                           place_words(trace, l, trace.span)),
               false,
               lost * kLeastToForbid >= l.launches,
               l.only_at_end ? trace.producer->wait
               : ops.empty() ? "Record again without other profilers, and read what this one prints: it may lack a library, or "
                               "the right to observe the GPU."
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
  add_other_launches(trace, ops, started, use);
  const std::vector<SpanSet> captured = any_capture ? capturing(trace, use) : std::vector<SpanSet>();
  Ns last_started = std::numeric_limits<Ns>::min(), first_lost = std::numeric_limits<Ns>::max();
  SliceId around;  // the launch that later ones may be part of: the driver's call in the runtime's
  for (const SliceId call : in_time_order(trace, use)) {
    const LaneId lane = trace.lane_id(call);
    if (any_capture && length_within(captured[lane.index()], trace.span_of(call)) > 0) continue;
    const bool has_started = started[call.index()];
    if (has_started) last_started = std::max(last_started, trace.begin(call));
    if (around && trace.lane_id(around) == lane && trace.begin(call) < trace.end(around)) {
      if (has_started && !out.lost.empty() && out.lost.back() == around) out.lost.pop_back();
      continue;
    }
    around = call;
    ++out.launches;
    if (!has_started) out.lost.push_back(call);
  }
  // Work whose id says nothing of its launch, or that shares another's, may be theirs.
  std::uint64_t in_doubt = 0;
  started.assign(started.size(), false);
  for (const GpuOp& op : ops) {
    if (!op.is_kernel()) continue;
    if (!op.linked()) {
      const GpuRow* const row = trace.gpu_row(op.slice);
      in_doubt += row != nullptr && row->correlation == 0 ? 1 : 0;
    } else if (started[op.launch.index()]) {
      in_doubt += launches_graph(trace.name(op.launch)) ? 0 : 1;
    } else {
      started[op.launch.index()] = true;
    }
  }
  if (out.lost.size() <= in_doubt) out.lost.clear();
  for (const SliceId s : out.lost) first_lost = std::min(first_lost, trace.begin(s));
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
