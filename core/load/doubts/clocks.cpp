// The clock of a GPU against the host's. No work begins before its launch does, so a clock that is behind shows at once. A
// clock that is ahead looks like a GPU that is slow to start: the difference is work that waits although the GPU is idle,
// always as long as all other work at least.
#include <algorithm>
#include <limits>
#include <map>
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

struct Pair {
  Ns launch = 0, work = 0, work_end = 0;
  Ns delay() const { return work - launch; }
};

std::int32_t device_of(const Trace& trace, const GpuRow& row) {
  return row.device >= 0 ? row.device : std::max(0, trace.processes[trace.lane(row.slice).process.index()].device);
}

// The first work of each launch, by GPU, in time order of the launches. `stride`: every n-th operation alone.
std::map<std::int32_t, std::vector<Pair>> pairs_of(const Trace& trace, std::size_t stride) {
  struct First {
    Ns work = std::numeric_limits<Ns>::max(), end = 0;
    std::int32_t device = 0;
  };
  std::unordered_map<std::uint64_t, First> first;
  for (std::size_t i = 0; i < trace.gpu.size(); i += stride) {
    const GpuRow& row = trace.gpu[i];
    if (row.correlation == 0 || !is_gpu_work(trace.kind(row.slice))) continue;
    First& known = first[row.correlation];
    if (trace.begin(row.slice) < known.work) known = {trace.begin(row.slice), trace.end(row.slice), device_of(trace, row)};
  }
  std::map<std::int32_t, std::vector<Pair>> out;
  for (const Call& call : trace.calls) {
    const auto at = first.find(call.correlation);
    if (at == first.end() || at->second.work == std::numeric_limits<Ns>::max()) continue;
    out[at->second.device].push_back({trace.begin(call.slice), at->second.work, at->second.end});
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

struct Offset {
  Ns ns = 0;  // to be added to the GPU's times; 0: none
  std::size_t pairs = 0;
  bool is_behind = false, mends = false;
};

Offset offset_of(const std::vector<Pair>& pairs) {
  Offset out;
  out.pairs = pairs.size();
  const bool are_all_early = std::all_of(pairs.begin(), pairs.end(), [](const Pair& p) { return p.delay() < -kTolerance; });
  if (pairs.size() < kLeastPairs && !are_all_early) return out;
  const Ns least = least_delay(pairs.data(), pairs.data() + pairs.size());
  if (least < -kTolerance) {
    out.is_behind = true;
    out.ns = kLaunchLatency - least;
    out.mends = agree(pairs, least);
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
  if (!offset.mends)
    return fmt::format(
        "{}: some GPU work begins up to {} before its launch, but not by one offset, so idle time and its causes "
        "are not known.",
        who, by);
  return offset.is_behind
             ? fmt::format("{}: GPU work begins before its launch. All of it is shown {} later, the least that mends this.",
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
  if (!any) return;
  const std::map<std::int32_t, std::vector<Pair>> all = pairs_of(trace, 1);
  for (const auto& [device, pairs] : all) {
    const Offset offset = offset_of(pairs);
    if (offset.ns == 0) continue;
    if (offset.mends) move_gpu(trace, device, offset.ns);
    trace.doubts.push_back({DoubtKind::clock_offset, offset.pairs, "idle time, its causes and launch delays",
                            sentence(offset, device, all.size() == 1), offset.mends, !offset.mends,
                            "Record again with a newer driver and profiler."});
  }
}

}  // namespace gapscope
