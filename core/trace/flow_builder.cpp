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

void bind_lane_flows(std::span<RawFlow* const> flows, std::span<const std::uint32_t> sorted, std::span<const Ns> begin,
                     std::span<const Ns> end, std::span<const std::uint8_t> kinds) {
  std::size_t at = 0;
  for (RawFlow* flow : flows) {
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

// Joins one group of equal key. `group` holds positions in `flows`, in file order.
void join_group(std::span<std::uint32_t> group, std::span<const RawFlow> flows, std::vector<JoinedFlow>& out, FlowCounts& counts,
                LoadReport& report) {
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return flows[a].time < flows[b].time; };
  if (!std::is_sorted(group.begin(), group.end(), earlier)) std::stable_sort(group.begin(), group.end(), earlier);
  constexpr std::size_t kNone = ~std::size_t{0};
  // Clocks of GPU and CPU differ a little: an end before the only start still belongs to it.
  std::size_t current = kNone;
  for (std::size_t i = 0; i < group.size() && current == kNone; ++i) {
    if (flows[group[i]].phase == 's') current = i;
  }
  std::vector<bool> used(group.size(), false);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const RawFlow& f = flows[group[i]];
    if (f.phase == 's') {
      current = i;
      continue;
    }
    const bool joined = current != kNone && flows[group[current]].slice != kUnbound && f.slice != kUnbound;
    if (joined) {
      out.push_back({flows[group[current]].slice, f.slice, f.category});
      used[current] = true;
    }
    if (f.phase == 'f') {
      ++(joined ? counts.bound : counts.unbound_ends);
      if (!joined) report.add(Oddity::flow_end_alone, f.offset, "");
    } else if (joined || current == kNone) {
      current = i;
    }
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    const RawFlow& f = flows[group[i]];
    if (f.phase != 's' || used[i]) continue;
    ++counts.unbound_starts;
    report.add(Oddity::flow_start_alone, f.offset, "");
  }
}

}  // namespace

std::vector<JoinedFlow> join_flows(std::span<const RawFlow> flows, FlowCounts& counts, LoadReport& report) {
  // Few kinds of arrows, many ids: kinds get small numbers, so that what is sorted is 16 bytes.
  struct Key {
    std::uint64_t id;
    std::uint32_t kind;
    std::uint32_t at;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kinds;
  std::vector<Key> keys;
  keys.reserve(flows.size());
  for (std::uint32_t i = 0; i < flows.size(); ++i) {
    const std::pair kind(flows[i].category, flows[i].name);
    auto at = std::find(kinds.begin(), kinds.end(), kind);
    if (at == kinds.end()) at = kinds.insert(kinds.end(), kind);
    keys.push_back({flows[i].id, static_cast<std::uint32_t>(at - kinds.begin()), i});
    ++(flows[i].phase == 's' ? counts.starts : flows[i].phase == 't' ? counts.steps : counts.ends);
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) { return std::tuple(a.kind, a.id, a.at) < std::tuple(b.kind, b.id, b.at); });
  std::vector<JoinedFlow> joined;
  joined.reserve(flows.size() / 2);
  std::vector<std::uint32_t> group;
  for (std::size_t i = 0; i < keys.size();) {
    group.clear();
    const Key first = keys[i];
    for (; i < keys.size() && keys[i].kind == first.kind && keys[i].id == first.id; ++i) group.push_back(keys[i].at);
    join_group(group, flows, joined, counts, report);
  }
  return joined;
}

}  // namespace gapscope
