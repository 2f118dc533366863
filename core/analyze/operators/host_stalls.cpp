#include "core/analyze/operators/host_stalls.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/saturating.h"

namespace gapscope {
namespace {

// Below this a page fault or a garbage collection will do; the median keeps out operators that are long by themselves.
constexpr Ns kLeastStall = 500 * kNsPerUs;
constexpr Ns kLeastTimes = 20;
// Distances are alike where none differs from their median by more than a quarter of it.
constexpr std::size_t kLeastOfPeriod = 4;

struct Own {
  std::uint64_t key;  // name and shapes
  SliceId op;
  Ns own;
};

// The sum of the slices of the next depth that lie in each slice of a row: both are in order of begin.
void add_row(const Trace& trace, const Lane& lane, std::uint32_t depth, std::vector<Own>& out) {
  const Row& row = trace.rows[lane.first_row + depth];
  const Row* below = depth + 1 < lane.depth_count ? &trace.rows[lane.first_row + depth + 1] : nullptr;
  std::uint32_t child = 0;
  for (std::uint32_t i = 0; i < row.count; ++i) {
    const SliceId s(row.first + i);
    Ns inside = 0;
    for (; below != nullptr && child < below->count; ++child) {
      const SliceId c(below->first + child);
      if (trace.begin(c) >= trace.end(s)) break;
      if (trace.begin(c) >= trace.begin(s)) add_saturating(inside, trace.duration(c));
    }
    if (trace.kind(s) != Kind::op || trace.name(s).starts_with("ProfilerStep#")) continue;
    const OpRow* args = trace.op_row(s);
    if (args == nullptr || !args->input_dims.valid()) continue;  // calls of other sizes take other times
    const std::uint64_t shapes = args->input_dims.value;
    out.push_back({std::uint64_t{trace.name_id(s).value} << 32 | shapes, s, std::max<Ns>(0, trace.duration(s) - inside)});
  }
}

// `calls`: of one operator and shapes, in order of begin.
void add_stalls(const Trace& trace, std::vector<Own>::const_iterator first, std::vector<Own>::const_iterator last,
                HostStalls& out) {
  if (static_cast<std::size_t>(last - first) < kLeastCalls) return;
  std::vector<Ns> times;
  for (auto at = first; at != last; ++at) times.push_back(at->own);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const Ns median = *middle;
  for (auto at = first + 1; at != last; ++at) {
    if (at->own < kLeastStall || at->own / kLeastTimes < median || trace.duration(at->op) > 2 * at->own) continue;
    out.all.push_back({at->op, at->own, median});
    add_saturating(out.time, at->own - median);
  }
}

Ns period_of(const Trace& trace, const std::vector<HostStall>& stalls) {
  if (stalls.size() < kLeastOfPeriod) return 0;
  std::vector<Ns> between;
  for (std::size_t i = 1; i < stalls.size(); ++i) between.push_back(trace.begin(stalls[i].op) - trace.begin(stalls[i - 1].op));
  std::sort(between.begin(), between.end());
  const Ns median = between[between.size() / 2];
  return between.back() - median <= median / 4 && median - between.front() <= median / 4 ? median : 0;
}

}  // namespace

HostStalls find_host_stalls(const Trace& trace) {
  std::vector<Own> calls;
  for (const Lane& lane : trace.lanes)
    if (lane.kind == LaneKind::cpu_thread)
      for (std::uint32_t depth = 0; depth < lane.depth_count; ++depth) add_row(trace, lane, depth, calls);
  std::sort(calls.begin(), calls.end(), [&](const Own& a, const Own& b) {
    return std::pair(a.key, trace.begin(a.op)) < std::pair(b.key, trace.begin(b.op));
  });
  HostStalls out;
  for (auto first = calls.cbegin(); first != calls.cend();) {
    const auto last = std::find_if(first, calls.cend(), [&](const Own& call) { return call.key != first->key; });
    add_stalls(trace, first, last, out);
    first = last;
  }
  std::sort(out.all.begin(), out.all.end(),
            [&](const HostStall& a, const HostStall& b) { return trace.begin(a.op) < trace.begin(b.op); });
  out.period = period_of(trace, out.all);
  return out;
}

}  // namespace gapscope
