// The clock of a GPU against the host's. No work begins before its launch does, so a clock that is behind shows at once. Of a
// clock that is ahead, a synchronization is the proof: no work that it waits for ends after it. Without one such a clock looks
// like a GPU that is slow to start: the difference is work that waits although the GPU is idle, always as long as all other
// work at least.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/load/doubts/doubts.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastPairs = 8;  // of fewer all must be too early
constexpr std::size_t kLeastPairsAhead = 20;
constexpr Ns kTolerance = 10 * kNsPerUs;     // clocks of one machine agree to less than this
constexpr Ns kLeastAhead = kNsPerMs;         // launches of an idle GPU take 5 to 20 us
constexpr Ns kAlike = 100 * kNsPerUs;        // delays of an idle GPU differ by less
constexpr std::size_t kParts = 8;            // of the recording, by time: the clocks must differ alike in each
constexpr Ns kLaunchLatency = 5 * kNsPerUs;  // of the quickest kernel, as recordings have it
constexpr std::size_t kSamples = 1024;       // looked at before all pairs are
constexpr Ns kEarlyReturn = 50 * kNsPerUs;   // of a synchronization before its work ends: recordings have less
constexpr std::size_t kSyncSamples = 64;
constexpr std::size_t kOneInSyncs = 4;  // that end too early: fewer are a few wrong times

struct Pair {
  Ns launch = 0, launch_end = 0, work = 0, work_end = 0;  // the first work of the launch
  std::int32_t stream = -1;
  ProcessId process;  // of the launch
  bool is_copy = false;
  Ns delay() const { return work - launch; }
};

// A call that returns once the work launched before it has ended: of its GPU, or of one stream.
struct Sync {
  Span span;
  ProcessId process;
  std::int32_t stream = -1;  // -1: all, or not known which
  bool of_device = false;
};

std::int32_t device_of(const Trace& trace, const GpuRow& row) {
  return row.device >= 0 ? row.device : std::max(0, trace.processes[trace.lane(row.slice).process.index()].device);
}

// "cudaDeviceSynchronize", "hipStreamSynchronize", "cuCtxSynchronize". An event's may be of earlier work.
bool waits_for_device(std::string_view name) {
  return name.ends_with("DeviceSynchronize") || name.ends_with("CtxSynchronize") || name.ends_with("SynchronizeDevice");
}
bool waits_for_stream(std::string_view name) {
  return name.ends_with("StreamSynchronize") || name.ends_with("SynchronizeStream");
}

// In time order; of a driver's call within the runtime's both.
std::vector<Sync> syncs_of(const Trace& trace) {
  std::vector<std::uint8_t> use(trace.strings.size());  // 1: of a stream, 2: of the device
  bool any = false;
  for (std::size_t i = 0; i < use.size(); ++i) {
    const std::string_view name = trace.strings[StringId(i)];
    if (name.find("Synchronize") == name.npos) continue;
    use[i] = waits_for_device(name) ? 2 : waits_for_stream(name) ? 1 : 0;
    any |= use[i] != 0;
  }
  std::vector<Sync> out;
  if (!any) return out;
  std::unordered_map<std::uint64_t, std::int32_t> streams;  // as the GPU's side of the wait says
  for (const GpuRow& row : trace.gpu)
    if (row.correlation != 0 && row.stream >= 0 && trace.kind(row.slice) == Kind::sync) streams[row.correlation] = row.stream;
  for (std::uint32_t s = 0; s < trace.slice_count(); ++s) {
    const SliceId slice(s);
    const std::uint8_t what = use[trace.name_id(slice).index()];
    if (what == 0 || !is_call(trace.kind(slice))) continue;
    const Call* const call = trace.call(slice);
    const auto stream = call != nullptr ? streams.find(call->correlation) : streams.end();
    out.push_back({trace.span_of(slice), trace.lane(slice).process, what == 2 || stream == streams.end() ? -1 : stream->second,
                   what == 2});
  }
  std::sort(out.begin(), out.end(), [](const Sync& a, const Sync& b) { return a.span.begin < b.span.begin; });
  return out;
}

// The first work of each launch, by GPU, in time order of the launches. `stride`: every n-th operation alone.
std::map<std::int32_t, std::vector<Pair>> pairs_of(const Trace& trace, std::size_t stride) {
  struct First {
    Ns work = std::numeric_limits<Ns>::max(), end = 0;
    std::int32_t device = 0, stream = -1;
    bool is_copy = false;
  };
  std::unordered_map<std::uint64_t, First> first;
  for (std::size_t i = 0; i < trace.gpu.size(); i += stride) {
    const GpuRow& row = trace.gpu[i];
    if (row.correlation == 0 || !is_gpu_work(trace.kind(row.slice))) continue;
    First& known = first[row.correlation];
    if (trace.begin(row.slice) < known.work)
      known = {trace.begin(row.slice), trace.end(row.slice), device_of(trace, row), row.stream,
               trace.kind(row.slice) == Kind::memcpy};
  }
  std::map<std::int32_t, std::vector<Pair>> out;
  for (const Call& call : trace.calls) {
    const auto at = first.find(call.correlation);
    if (at == first.end() || at->second.work == std::numeric_limits<Ns>::max()) continue;
    const First& work = at->second;
    out[work.device].push_back({trace.begin(call.slice), trace.end(call.slice), work.work, work.end, work.stream,
                                trace.lane(call.slice).process, work.is_copy});
    at->second.work = std::numeric_limits<Ns>::max();  // of two calls with one id, the first
  }
  for (auto& [device, pairs] : out)
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.launch < b.launch; });
  return out;
}

Ns least_delay(const Pair* from, const Pair* to) {
  Ns least = std::numeric_limits<Ns>::max();
  for (const Pair* p = from; p != to; ++p) least = std::min(least, p->delay());
  return least;
}

// The least delay is about the same in every part of the recording, so one number mends them all.
bool agree(const std::vector<Pair>& pairs, Ns least) {
  const std::size_t parts = std::clamp<std::size_t>(pairs.size() / 4, 1, kParts);
  const Ns most_apart = std::max<Ns>(50 * kNsPerUs, std::abs(least) / 10);
  for (std::size_t i = 0; i < parts; ++i) {
    const Ns part = least_delay(pairs.data() + pairs.size() * i / parts, pairs.data() + pairs.size() * (i + 1) / parts);
    if (part - least > most_apart) return false;
  }
  return true;
}

// A quarter of the work begins on an idle GPU, and of that half as soon after its launch as any does. Behind a queue there are
// short gaps, too, but there the delays differ by what is queued.
bool waits_when_idle(std::vector<Pair> pairs, Ns least) {
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.work < b.work; });
  std::size_t idle = 0, as_soon = 0;
  Ns busy_until = pairs.front().work;
  for (const Pair& p : pairs) {
    if (p.work - busy_until >= kTolerance / 5) {
      ++idle;
      as_soon += p.delay() - least <= kAlike ? 1 : 0;
    }
    busy_until = std::max(busy_until, p.work_end);
  }
  return idle * 4 >= pairs.size() && as_soon * 2 >= idle;
}

// Whether after some of the calls there is work that was launched before them: looks at a few.
bool any_early_return(const Trace& trace, const std::vector<Sync>& syncs) {
  std::unordered_map<std::uint64_t, Ns> after;  // correlation of work that ends after a call: the call's begin
  for (std::size_t i = 0; i < syncs.size(); i += syncs.size() / kSyncSamples + 1)
    for (const Lane& lane : trace.lanes) {
      if (lane.kind != LaneKind::gpu_stream || lane.depth_count == 0) continue;
      const Row& row = trace.rows[lane.first_row];
      const auto first = trace.slices.end.begin() + row.first;
      const auto at = std::upper_bound(first, first + row.count, syncs[i].span.end + kEarlyReturn);
      if (at == first + row.count) continue;
      const GpuRow* const gpu = trace.gpu_row(SliceId(static_cast<std::uint32_t>(at - trace.slices.end.begin())));
      if (gpu == nullptr || gpu->correlation == 0 || !is_gpu_work(trace.kind(gpu->slice))) continue;
      Ns& begin = after.try_emplace(gpu->correlation, syncs[i].span.begin).first->second;
      begin = std::max(begin, syncs[i].span.begin);
    }
  return !after.empty() && std::any_of(trace.calls.begin(), trace.calls.end(), [&](const Call& call) {
    const auto at = after.find(call.correlation);
    return at != after.end() && trace.end(call.slice) <= at->second;
  });
}

// Processes that launch work of several GPUs.
std::vector<ProcessId> with_several_gpus(const std::map<std::int32_t, std::vector<Pair>>& by_gpu) {
  std::map<ProcessId, std::int32_t> gpu;
  std::vector<ProcessId> out;
  for (const auto& [device, pairs] : by_gpu)
    for (const Pair& p : pairs)
      if (gpu.try_emplace(p.process, device).first->second != device) out.push_back(p.process);
  return out;
}

// How long after each call the last work that it waits for ends: the least that is certain. Negative: before. Nothing of a call
// of a process with several GPUs, as it waits for one.
struct EarlyReturns {
  Ns most = std::numeric_limits<Ns>::min();
  std::size_t early = 0, all = 0;  // by more than clocks of one machine differ
};
EarlyReturns early_returns(const std::vector<Sync>& syncs, const std::vector<Pair>& pairs,
                           const std::vector<ProcessId>& of_several) {
  struct LaunchedUntil {
    Ns launch_end, last_end;
  };
  std::map<std::pair<ProcessId, std::int32_t>, std::vector<LaunchedUntil>> streams;
  std::vector<Pair> in_order = pairs;
  std::sort(in_order.begin(), in_order.end(), [](const Pair& a, const Pair& b) { return a.launch_end < b.launch_end; });
  for (const Pair& p : in_order) {
    std::vector<LaunchedUntil>& stream = streams[{p.process, p.stream}];
    stream.push_back({p.launch_end, stream.empty() ? p.work_end : std::max(stream.back().last_end, p.work_end)});
  }
  EarlyReturns out;
  for (const Sync& sync : syncs) {
    if (std::find(of_several.begin(), of_several.end(), sync.process) != of_several.end()) continue;
    const auto last = std::upper_bound(in_order.begin(), in_order.end(), sync.span.begin,
                                       [](Ns t, const Pair& p) { return t < p.launch_end; });
    // What a blocking copy launched is waited for at once.
    const bool after_copy = last != in_order.begin() && (last - 1)->is_copy && (last - 1)->process == sync.process;
    const std::int32_t only = sync.of_device || sync.stream >= 0 ? sync.stream : after_copy ? (last - 1)->stream : -1;
    std::optional<Ns> end;
    for (const auto& [key, launched] : streams) {
      if (key.first != sync.process || (only >= 0 && key.second != only)) continue;
      const auto after = std::upper_bound(launched.begin(), launched.end(), sync.span.begin,
                                          [](Ns t, const LaunchedUntil& l) { return t < l.launch_end; });
      if (after == launched.begin()) continue;
      const Ns of_stream = (after - 1)->last_end;
      end = !end ? of_stream : sync.of_device ? std::max(*end, of_stream) : std::min(*end, of_stream);
    }
    if (!end) continue;
    ++out.all;
    out.most = std::max(out.most, *end - sync.span.end);
    out.early += *end - sync.span.end > kEarlyReturn ? 1 : 0;
  }
  return out;
}

struct Offset {
  Ns ns = 0;  // to be added to the GPU's times; 0: none
  std::size_t pairs = 0;
  bool is_behind = false, mends = false;
  std::size_t early_returns = 0;  // of synchronizations
};

// Every launch agrees where none would be after its work then.
void prove_ahead(Offset& out, const EarlyReturns& returns, Ns least) {
  const bool agrees = returns.most <= least + kTolerance;
  if (!agrees && (returns.early < 2 || returns.early * kOneInSyncs < returns.all)) return;
  out.early_returns = returns.early;
  out.mends = agrees;
  out.ns = least - returns.most <= kAlike ? -std::max(returns.most, least - kLaunchLatency) : -returns.most;
}

Offset offset_of(const std::vector<Pair>& pairs, const EarlyReturns& returns) {
  Offset out;
  out.pairs = pairs.size();
  const bool are_all_early = std::all_of(pairs.begin(), pairs.end(), [](const Pair& p) { return p.delay() < -kTolerance; });
  if (pairs.size() < kLeastPairs && !are_all_early) return out;
  const Ns least = least_delay(pairs.data(), pairs.data() + pairs.size());
  if (least < -kTolerance) {
    out.is_behind = true;
    out.ns = kLaunchLatency - least;
    out.mends = agree(pairs, least);
  } else if (returns.early > 0) {
    prove_ahead(out, returns, least);
  } else if (least > kLeastAhead && pairs.size() >= kLeastPairsAhead && agree(pairs, least) && waits_when_idle(pairs, least)) {
    out.ns = kLaunchLatency - least;
    out.mends = true;
  }
  return out;
}

void move_gpu(Trace& trace, std::int32_t device, Ns by) {
  for (Lane& lane : trace.lanes) {
    const Process& process = trace.processes[lane.process.index()];
    if (lane.kind != LaneKind::gpu_stream || std::max(process.device, 0) != device) continue;
    for (std::uint32_t s = lane.first_slice; s < lane.first_slice + lane.slice_count; ++s) {
      trace.slices.begin[s] += by;
      trace.slices.end[s] += by;
    }
    for (std::uint32_t i = lane.first_instant; i < lane.first_instant + lane.instant_count; ++i) trace.instants[i].time += by;
    lane.span = {lane.span.begin + by, lane.span.end + by};
  }
}

std::string sentence(const Offset& offset, std::int32_t device, bool one_gpu) {
  const std::string who =
      one_gpu ? "The clocks of GPU and host differ" : fmt::format("The clocks of GPU {} and host differ", device);
  const std::string by = format_duration(std::abs(offset.ns));
  if (!offset.mends && offset.early_returns > 0)
    return fmt::format(
        "{}: synchronizations end up to {} before the work that they wait for. The offset is not constant, so idle time and "
        "its causes are unknown.",
        who, by);
  if (offset.early_returns > 0)
    return fmt::format(
        "{}: {} before the work that {}. All GPU work is shown {} earlier, the smallest shift that corrects this.", who,
        offset.early_returns == 1
            ? "1 synchronization ends"
            : fmt::format("{} synchronizations end", format_count(static_cast<std::int64_t>(offset.early_returns))),
        offset.early_returns == 1 ? "it waits for" : "they wait for", by);
  if (!offset.mends)
    return fmt::format(
        "{}: some GPU work begins up to {} before its launch. The offset is not constant, so idle time and its causes are "
        "unknown.",
        who, by);
  return offset.is_behind
             ? fmt::format(
                   "{}: GPU work begins before its launch. All of it is shown {} later, the smallest shift that corrects this.",
                   who, by)
             : fmt::format("{}: an idle GPU begins no work sooner than {} after its launch. All of it is shown {} earlier.",
                           who, by, by);
}

}  // namespace

void add_clock_offsets(Trace& trace) {
  if (trace.gpu.empty() || trace.calls.empty()) return;
  const std::size_t stride = trace.gpu.size() / kSamples + 1;
  bool any = false;
  for (const auto& [device, pairs] : pairs_of(trace, stride)) {
    const Ns least = least_delay(pairs.data(), pairs.data() + pairs.size());
    any |= least < -kTolerance || least > kLeastAhead;
  }
  const std::vector<Sync> syncs = syncs_of(trace);
  if (!any && !any_early_return(trace, syncs)) return;
  const std::map<std::int32_t, std::vector<Pair>> all = pairs_of(trace, 1);
  const std::vector<ProcessId> of_several = with_several_gpus(all);
  for (const auto& [device, pairs] : all) {
    const Offset offset = offset_of(pairs, early_returns(syncs, pairs, of_several));
    if (offset.ns == 0) continue;
    if (offset.mends) move_gpu(trace, device, offset.ns);
    trace.doubts.push_back({DoubtKind::clock_offset, offset.pairs, "idle time, its causes and launch delays",
                            sentence(offset, device, all.size() == 1), offset.mends, !offset.mends,
                            "Record again with a newer driver and profiler."});
  }
}

}  // namespace gapscope
