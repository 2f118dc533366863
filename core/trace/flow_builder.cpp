#include "core/trace/flow_builder.h"

#include <algorithm>
#include <tuple>

namespace gapscope {
namespace {

int preference(Kind kind, bool wants_op) {
  if (wants_op) return kind == Kind::op ? 2 : 0;
  return is_call(kind) || is_gpu_work(kind) || kind == Kind::sync ? 2 : kind == Kind::op ? 1 : 0;
}

// The innermost slice around `t` among those that begin at or before it: walks back from `from`, a bounded way, since
// this is only the fallback for flows that begin on no slice.
std::uint32_t enclosing(std::span<const std::uint32_t> sorted, std::size_t from, Ns t, std::span<const Ns> end) {
  constexpr std::size_t kLookBack = 512;  // deeper than any stack seen (88)
  for (std::size_t n = 0; n < kLookBack && from > 0; ++n) {
    const std::uint32_t s = sorted[--from];
    if (end[s] > t) return s;
  }
  return kUnbound;
}

}  // namespace

void bind_lane_flows(std::span<BoundFlow* const> flows, std::span<const std::uint32_t> sorted, std::span<const Ns> begin,
                     std::span<const Ns> end, std::span<const std::uint8_t> kinds) {
  std::size_t at = 0;
  for (BoundFlow* flow : flows) {
    while (at < sorted.size() && begin[sorted[at]] < flow->time) ++at;
    int best = -1;
    std::size_t i = at;
    for (; i < sorted.size() && begin[sorted[i]] == flow->time; ++i) {
      const int p = preference(static_cast<Kind>(kinds[sorted[i]]), flow->wants_op);
      if (p >= best) {
        best = p;
        flow->slice = sorted[i];
      }
    }
    if (best < 0) flow->slice = enclosing(sorted, at, flow->time, end);
  }
}

namespace {

// Joins one group of equal key, ordered by (time, file order).
void join_group(std::span<BoundFlow> group, std::vector<JoinedFlow>& out, FlowCounts& counts, LoadReport& report) {
  std::size_t current = group.size();
  const auto first_start = std::find_if(group.begin(), group.end(), [](const BoundFlow& f) { return f.phase == 's'; });
  // Clocks of GPU and CPU differ a little: an end before the only start still belongs to it.
  if (first_start != group.end()) current = static_cast<std::size_t>(first_start - group.begin());
  std::vector<bool> used(group.size(), false);
  for (std::size_t i = 0; i < group.size(); ++i) {
    BoundFlow& f = group[i];
    if (f.phase == 's') {
      current = i;
      continue;
    }
    const bool joined = current < group.size() && group[current].slice != kUnbound && f.slice != kUnbound;
    if (joined) {
      out.push_back({group[current].slice, f.slice, f.category});
      used[current] = used[i] = true;
    }
    if (f.phase == 'f') {
      ++(joined ? counts.bound : counts.unbound_ends);
      if (!joined) report.add(Oddity::flow_end_alone, f.offset, "");
    } else if (joined || current == group.size()) {
      current = i;
    }
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i].phase != 's' || used[i]) continue;
    ++counts.unbound_starts;
    report.add(Oddity::flow_start_alone, group[i].offset, "");
  }
}

}  // namespace

std::vector<JoinedFlow> join_flows(std::vector<BoundFlow>& flows, FlowCounts& counts, LoadReport& report) {
  const auto key = [](const BoundFlow& f) { return std::tuple(f.category, f.name, f.id); };
  std::sort(flows.begin(), flows.end(), [&](const BoundFlow& a, const BoundFlow& b) {
    return std::tuple(a.category, a.name, a.id, a.time, a.offset) < std::tuple(b.category, b.name, b.id, b.time, b.offset);
  });
  std::vector<JoinedFlow> joined;
  for (std::size_t i = 0; i < flows.size();) {
    std::size_t j = i + 1;
    while (j < flows.size() && key(flows[j]) == key(flows[i])) ++j;
    join_group(std::span(flows).subspan(i, j - i), joined, counts, report);
    i = j;
  }
  for (const BoundFlow& f : flows) ++(f.phase == 's' ? counts.starts : f.phase == 't' ? counts.steps : counts.ends);
  return joined;
}

}  // namespace gapscope
