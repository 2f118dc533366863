#include "core/trace/flow_builder.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "core/base/column.h"
#include "core/base/radix_sort.h"

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

// Nearly all groups: one start, one end, both on a slice.
bool join_pair(std::span<const std::uint32_t> group, const PagedRows<RawFlow>& flows, std::vector<JoinedFlow>& out, FlowCounts& counts) {
  if (group.size() != 2) return false;
  const RawFlow* start = &flows[group[0]];
  const RawFlow* end = &flows[group[1]];
  if (start->phase == 'f') std::swap(start, end);
  if (start->phase != 's' || end->phase != 'f' || start->slice == kUnbound || end->slice == kUnbound) return false;
  out.push_back({start->slice, end->slice, end->category});
  ++counts.bound;
  return true;
}

// Joins one group of equal key. `group` holds positions in `flows`, in file order.
void join_group(std::span<std::uint32_t> group, const PagedRows<RawFlow>& flows, std::vector<JoinedFlow>& out, FlowCounts& counts,
                const std::function<void(Oddity, const RawFlow&)>& note) {
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return flows[a].time < flows[b].time; };
  if (!std::is_sorted(group.begin(), group.end(), earlier)) std::stable_sort(group.begin(), group.end(), earlier);
  if (join_pair(group, flows, out, counts)) return;
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
      if (!joined) note(Oddity::flow_end_alone, f);
    } else if (joined || current == kNone) {
      current = i;
    }
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    const RawFlow& f = flows[group[i]];
    if (f.phase != 's' || used[i]) continue;
    ++counts.unbound_starts;
    note(Oddity::flow_start_alone, f);
  }
}

// File order within an id.
void order_by_id(std::vector<std::uint32_t>& members, const PagedRows<RawFlow>& flows) {
  struct Entry {
    std::uint32_t id;
    std::uint32_t flow;
  };
  std::uint64_t largest = 0;
  for (const std::uint32_t m : members) largest = std::max(largest, flows[m].id);
  if (largest > std::numeric_limits<std::uint32_t>::max()) {
    std::stable_sort(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) { return flows[a].id < flows[b].id; });
    return;
  }
  Column<Entry> entries(members.size()), other;
  for (std::size_t i = 0; i < members.size(); ++i) entries[i] = {static_cast<std::uint32_t>(flows[members[i]].id), members[i]};
  radix_sort(entries, other, [](const Entry& e) { return e.id; });
  for (std::size_t i = 0; i < members.size(); ++i) members[i] = entries[i].flow;
}

}  // namespace

std::vector<JoinedFlow> join_flows(const PagedRows<RawFlow>& flows, const StringTable& strings, FlowCounts& counts, LoadReport& report) {
  // Few kinds of arrows (category and name), many ids.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kinds;
  std::vector<std::vector<std::uint32_t>> of_kind;
  for (std::uint32_t i = 0; i < flows.size(); ++i) {
    const std::pair kind(flows[i].category, flows[i].name);
    auto at = std::find(kinds.begin(), kinds.end(), kind);
    if (at == kinds.end()) {
      at = kinds.insert(kinds.end(), kind);
      of_kind.emplace_back();
    }
    of_kind[static_cast<std::size_t>(at - kinds.begin())].push_back(i);
    ++(flows[i].phase == 's' ? counts.starts : flows[i].phase == 't' ? counts.steps : counts.ends);
  }
  const auto note = [&](Oddity kind, const RawFlow& f) {
    report.add(kind, f.offset, report.wants_example(kind, f.offset) ? fmt::format("{} {}", strings[StringId(f.category)], f.id) : std::string());
  };
  std::vector<JoinedFlow> joined;
  joined.reserve(flows.size() / 2);
  for (std::vector<std::uint32_t>& members : of_kind) {
    order_by_id(members, flows);
    for (std::size_t i = 0; i < members.size();) {
      std::size_t j = i + 1;
      while (j < members.size() && flows[members[j]].id == flows[members[i]].id) ++j;
      join_group(std::span(members).subspan(i, j - i), flows, joined, counts, note);
      i = j;
    }
  }
  return joined;
}

}  // namespace gapscope
