#include "core/analyze/operators/host_stalls.h"

#include <algorithm>
#include <tuple>

#include "core/base/saturating.h"

namespace gapscope {
namespace {

// Below this a page fault or a garbage collection will do; the median keeps out operators that are long by themselves.
constexpr Ns kLeastStall = 500 * kNsPerUs;
constexpr Ns kLeastTimes = 20;
// Distances are alike where none differs from their median by more than a quarter of it.
constexpr std::size_t kLeastOfPeriod = 4;

struct Own {
  std::uint64_t key;  // name, shapes and whether something is in it
  SliceId op;
  Ns own;
};

// May be a stall, if the median of its like says so.
bool may_be_stall(const Trace& trace, const Own& call) {
  return call.own >= kLeastStall && trace.duration(call.op) <= 2 * call.own;
}

// Operators with their shapes, row after row in order of slices.
class CallReader {
 public:
  explicit CallReader(const Trace& trace) : trace_(trace), is_step_(trace.strings.size()) {
    for (std::size_t i = 0; i < is_step_.size(); ++i) is_step_[i] = trace.strings[StringId(i)].starts_with("ProfilerStep#");
  }

  template <class Visit>  // visit(call)
  void each(Visit visit) {
    next_ = 0;
    for (const Lane& lane : trace_.lanes)
      if (lane.kind == LaneKind::cpu_thread)
        for (std::uint32_t depth = 0; depth < lane.depth_count; ++depth) each_of_row(lane, depth, visit);
  }

 private:
  // Inside a call is the sum of the slices of the next depth that lie in it: both rows are in order of begin.
  template <class Visit>
  void each_of_row(const Lane& lane, std::uint32_t depth, Visit& visit) {
    const Row& row = trace_.rows[lane.first_row + depth];
    const Row* below = depth + 1 < lane.depth_count ? &trace_.rows[lane.first_row + depth + 1] : nullptr;
    std::uint32_t child = 0;
    for (std::uint32_t i = 0; i < row.count; ++i) {
      const SliceId s(row.first + i);
      Ns inside = 0;
      for (; below != nullptr && child < below->count; ++child) {
        const SliceId c(below->first + child);
        if (trace_.begin(c) >= trace_.end(s)) break;
        if (trace_.begin(c) >= trace_.begin(s)) add_saturating(inside, trace_.duration(c));
      }
      while (next_ < trace_.ops.size() && trace_.ops[next_].slice < s) ++next_;
      if (next_ == trace_.ops.size() || trace_.ops[next_].slice != s) continue;
      const StringId dims = trace_.ops[next_].input_dims;  // calls of other sizes take other times
      const StringId name = trace_.name_id(s);
      if (!dims.valid() || is_step_[name.index()] || trace_.kind(s) != Kind::op) continue;
      // On the CPU the same call computes by itself, where on the GPU it launches and returns.
      const std::uint64_t by_itself = inside == 0 ? std::uint64_t{1} << 63 : 0;
      const std::uint64_t key = by_itself | std::uint64_t{name.value} << 32 | dims.value;
      visit(Own{key, s, std::max<Ns>(0, trace_.duration(s) - inside)});
    }
  }

  const Trace& trace_;
  std::vector<bool> is_step_;  // by name
  std::size_t next_ = 0;       // of the operators' rows
};

// Only the calls whose like may have stalled are worth keeping: few, where any.
std::vector<Own> suspects(const Trace& trace) {
  CallReader reader(trace);
  std::vector<std::uint64_t> keys;
  reader.each([&](const Own& call) {
    if (may_be_stall(trace, call)) keys.push_back(call.key);
  });
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<Own> calls;
  if (keys.empty()) return calls;
  reader.each([&](const Own& call) {
    if (std::binary_search(keys.begin(), keys.end(), call.key)) calls.push_back(call);
  });
  return calls;
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
    if (!may_be_stall(trace, *at) || at->own / kLeastTimes < median) continue;
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
  std::vector<Own> calls = suspects(trace);
  std::sort(calls.begin(), calls.end(), [&](const Own& a, const Own& b) {
    return std::tuple(a.key, trace.begin(a.op), a.op) < std::tuple(b.key, trace.begin(b.op), b.op);
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
