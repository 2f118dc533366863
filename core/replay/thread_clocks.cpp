#include "core/replay/thread_clocks.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>

namespace gapscope {
namespace {

constexpr std::uint32_t kNoClock = ReplayModel::kNone;  // nor thread
constexpr std::uint32_t kAtOncePart = 20;               // of the calls of the thread that makes fewer, one in so many
constexpr std::size_t kMostThreads = 64;                // of a process that are looked at: the first
constexpr Ns kLeastStood = 100 * kNsPerUs;              // Python between two operators is mostly shorter
constexpr Ns kTakenPart = 10;                           // all but one part in so many of a stand

}  // namespace

ThreadClocks::ThreadClocks(const Trace& trace, const std::vector<SliceId>& calls)
    : trace_(trace), thread_of_lane_(trace.lanes.size(), kNoClock) {
  gather(calls);
  for (Host& host : hosts_) {
    host.first_clock = host.main = count_;
    share(host, calls_during(host));
    count_ += host.clocks;
    if (host.clocks < 2) continue;
    at_once_ += host.clocks;
    find_joins(host);
  }
  using Join = ReplayModel::Join;
  const auto order = [](const Join& j) { return std::tuple(j.stood.end, j.clock, j.stood.begin, j.other); };
  std::sort(joins_.begin(), joins_.end(), [&](const Join& a, const Join& b) { return order(a) < order(b); });
  std::uint32_t call = 0;
  for (Join& join : joins_) {
    while (call < calls.size() && trace.begin(calls[call]) < join.stood.end) ++call;
    join.call = call;
  }
}

std::uint32_t ThreadClocks::of(LaneId lane) {
  const auto [at, is_new] =
      host_of_process_.emplace(trace_.lane(lane).process.value, static_cast<std::uint32_t>(hosts_.size()));
  if (is_new) {
    hosts_.emplace_back();
    hosts_.back().main = count_++;
  }
  const Host& host = hosts_[at->second];
  const std::uint32_t thread = thread_of_lane_[lane.index()];
  return thread == kNoClock ? host.main : host.threads[thread].clock;
}

void ThreadClocks::gather(const std::vector<SliceId>& calls) {
  for (const SliceId call : calls) {
    const LaneId lane = trace_.lane_id(call);
    const auto [at, is_new] =
        host_of_process_.emplace(trace_.lane(lane).process.value, static_cast<std::uint32_t>(hosts_.size()));
    if (is_new) hosts_.emplace_back();
    Host& host = hosts_[at->second];
    std::vector<Thread>& threads = host.threads;
    host.calls.push_back(call);
    std::uint32_t& thread = thread_of_lane_[lane.index()];
    if (thread == kNoClock) {
      thread = static_cast<std::uint32_t>(threads.size());
      threads.push_back({lane, 0, kNoClock});
    }
    ++threads[thread].calls;
  }
}

// Of each thread (row), how many calls begin while each other one (column) is in a call.
ThreadClocks::Counts ThreadClocks::calls_during(const Host& host) const {
  const std::size_t n = std::min(host.threads.size(), kMostThreads);
  Counts out(n * n);
  std::vector<Ns> ends(n, std::numeric_limits<Ns>::min());
  if (n < 2) return out;
  for (const SliceId call : host.calls) {
    const std::uint32_t thread = thread_of_lane_[trace_.lane_id(call).index()];
    if (thread >= n) continue;
    for (std::size_t other = 0; other < n; ++other)
      if (other != thread && ends[other] > trace_.begin(call)) ++out[thread * n + other];
    ends[thread] = std::max(ends[thread], trace_.end(call));
  }
  return out;
}

// Each thread goes by the first clock with none of whose threads it runs at the same time. `during`: calls_during().
void ThreadClocks::share(Host& host, const Counts& during) {
  const std::size_t n = std::min(host.threads.size(), kMostThreads);
  const auto at_once = [&](std::size_t a, std::size_t b) {
    const std::uint64_t together = std::uint64_t{during[a * n + b]} + during[b * n + a];
    return together * kAtOncePart >= std::min(host.threads[a].calls, host.threads[b].calls);
  };
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return host.threads[a].calls > host.threads[b].calls; });
  std::vector<std::vector<std::size_t>> clocks;
  for (const std::size_t t : order) {
    const auto takes_turns = [&](const std::vector<std::size_t>& threads) {
      return std::none_of(threads.begin(), threads.end(), [&](std::size_t other) { return at_once(t, other); });
    };
    auto clock = std::find_if(clocks.begin(), clocks.end(), takes_turns);
    if (clock == clocks.end()) clock = clocks.emplace(clock);
    clock->push_back(t);
    host.threads[t].clock = host.first_clock + static_cast<std::uint32_t>(clock - clocks.begin());
  }
  for (std::size_t t = n; t < host.threads.size(); ++t) host.threads[t].clock = host.first_clock;
  host.clocks = static_cast<std::uint32_t>(clocks.size());
}

// When the threads of each clock are in an operator or a call, and the moments at which anything else of theirs begins or ends.
std::vector<SpanSet> ThreadClocks::busy_times(const Host& host) const {
  std::vector<std::vector<Span>> spans(host.clocks);
  for (const Thread& thread : host.threads) {
    const Lane& lane = trace_.lane(thread.lane);
    for (std::uint32_t i = 0; i < lane.slice_count; ++i) {
      const SliceId slice(lane.first_slice + i);
      const Span span = trace_.span_of(slice);
      std::vector<Span>& busy = spans[thread.clock - host.first_clock];
      if (const Kind kind = trace_.kind(slice); kind == Kind::op || is_call(kind))
        busy.push_back(span);
      else
        busy.insert(busy.end(), {{span.begin, span.begin + 1}, {span.end, span.end + 1}});
    }
  }
  std::vector<SpanSet> out;
  for (std::vector<Span>& s : spans) out.push_back(span_set(std::move(s)));
  return out;
}

void ThreadClocks::find_joins(const Host& host) {
  const std::vector<SpanSet> busy = busy_times(host);
  for (std::uint32_t c = 0; c < host.clocks; ++c)
    for (std::size_t i = 1; i < busy[c].size(); ++i) {
      const Span stood{busy[c][i - 1].end, busy[c][i].begin};
      if (stood.length() < kLeastStood) continue;
      for (const std::uint32_t other : waited_for(host, busy, c, stood))
        joins_.push_back({0, host.first_clock + c, host.first_clock + other, stood});
    }
}

// Those that worked while the clock was stopped, until shortly before it continued; and for one that has little to do, where
// most is done, since that is what woke it.
std::vector<std::uint32_t> ThreadClocks::waited_for(const Host& host, const std::vector<SpanSet>& busy, std::uint32_t clock,
                                                    Span stood) const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t other = 0; other < host.clocks; ++other) {
    if (other == clock) continue;
    const SpanSet& work = busy[other];
    const auto next = std::partition_point(work.begin(), work.end(), [&](const Span& s) { return s.begin < stood.end; });
    const Ns end = next == work.begin() ? stood.begin : std::prev(next)->end;
    const bool stopped = end > stood.begin && end <= stood.end;
    const Span until{stood.begin, end};
    const bool took = stopped && length_within(work, until) >= until.length() - until.length() / kTakenPart;
    if (took || host.first_clock + other == host.main) out.push_back(other);
  }
  return out;
}

}  // namespace gapscope
