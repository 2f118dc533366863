#include "core/build/flow_builder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/radix_sort.h"

namespace gapscope {
namespace {

int preference(Kind kind, bool wants_op) {
  if (wants_op) return kind == Kind::op ? 2 : 0;
  return is_call(kind) || is_gpu_work(kind) || kind == Kind::sync ? 2 : kind == Kind::op ? 1 : 0;
}

}  // namespace

// The innermost slice around `t` among those that begin at or before it: the last of them that has not ended. It is mostly
// near; else a tree over all ends knows.
std::uint32_t FlowBinder::enclosing(std::size_t from, Ns t) {
  const std::size_t far = from > kNear ? from - kNear : 0;
  for (std::size_t i = from; i-- > far;) {
    ++count_.steps;
    if (end_[sorted_[i]] > t) return sorted_[i];
  }
  if (far == 0) return kUnbound;
  if (ends_.size() == 0) {
    ends_.resize(sorted_.size());
    for (std::size_t i = 0; i < sorted_.size(); ++i) ends_.set(i, last_moment(sorted_[i]));
    count_.steps += sorted_.size();
  }
  count_.steps += kStepsInTree;
  const std::size_t found = ends_.last_at_least(far, t);
  return found == MaxTree::kNone ? kUnbound : sorted_[found];
}

// Strides that double from where the last search ended, then bisection.
std::size_t FlowBinder::first_at_or_after(Ns time) const {
  const auto earlier = [&](std::size_t i) { return begin_[sorted_[i]] < time; };
  std::size_t low = at_, high = at_;  // all before low are earlier, none from high on is
  if (at_ < sorted_.size() && earlier(at_)) {
    for (std::size_t stride = 1; high < sorted_.size() && earlier(high); stride *= 2) {
      low = high + 1;
      high = std::min(high + stride, sorted_.size());
    }
  } else {
    for (std::size_t stride = 1; low > 0 && !earlier(low - 1); stride *= 2) {
      high = low - 1;
      low = low > stride ? low - stride : 0;
    }
  }
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (earlier(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Of the slices from `at` on that begin at one time, the innermost of those that are preferred.
std::uint32_t FlowBinder::preferred(std::size_t at, bool wants_op) {
  const Ns time = begin_[sorted_[at]];
  int best = -1;
  std::uint32_t found = kUnbound;
  std::size_t i = at;
  for (; i < sorted_.size() && begin_[sorted_[i]] == time; ++i) {
    const int p = preference(static_cast<Kind>(kinds_[sorted_[i]]), wants_op);
    if (p < best) continue;
    best = p;
    found = sorted_[i];
  }
  count_.steps += i - at;
  return found;
}

std::uint32_t FlowBinder::slice_at(Ns time, bool wants_op) {
  at_ = first_at_or_after(time);
  if (at_ == sorted_.size() || begin_[sorted_[at_]] != time) return enclosing(at_, time);
  constexpr std::size_t kFew = 16;
  if (at_ + kFew >= sorted_.size() || begin_[sorted_[at_ + kFew]] != time) return preferred(at_, wants_op);
  // Thousands may begin at one time, and thousands of flows with them.
  const auto [known, is_new] = crowds_.try_emplace(2 * at_ + (wants_op ? 1 : 0), kUnbound);
  if (is_new) known->second = preferred(at_, wants_op);
  return known->second;
}

std::uint32_t FlowBinder::next_slice(Ns time) {
  at_ = first_at_or_after(time);
  return at_ < sorted_.size() ? sorted_[at_] : kUnbound;
}

std::uint32_t FlowBinder::slice_ended_at(Ns time) {
  at_ = first_at_or_after(time);
  for (std::size_t i = at_; i-- > (at_ > kNear ? at_ - kNear : 0);)
    if (end_[sorted_[i]] == time) return sorted_[i];
  return kUnbound;
}

namespace {

class FlowJoiner {
 public:
  FlowJoiner(const PagedRows<StoredFlow>& flows, const SideTables& side, const StringTable& strings, FlowCounts& counts,
             LoadReport& report)
      : flows_(flows), side_(side), strings_(strings), counts_(counts), report_(report) {}

  Column<JoinedFlow> run() {
    sort_by_kind();
    joined_.reserve(flows_.size() / 2);
    for (Members& members : of_kind_) {
      order_by_id(members);
      for (std::size_t i = 0; i < members.size();) {
        std::size_t j = i + 1;
        while (j < members.size() && members[j].id == members[i].id) ++j;
        join_group(std::span(members).subspan(i, j - i));
        i = j;
      }
      Members().swap(members);
    }
    return std::move(joined_);
  }

 private:
  struct Member {
    std::uint32_t id;  // packed
    std::uint32_t flow;
  };
  using Members = Column<Member>;

  // Few kinds of arrows (category and name), many ids. Kinds in order of their first flow.
  void sort_by_kind() {
    std::vector<std::uint32_t> slot(side_.flow_kinds.size(), kUnbound);
    std::vector<std::uint32_t> sizes;
    flows_.each([&](const StoredFlow& f, std::size_t) {
      if (slot[f.kind] == kUnbound) {
        slot[f.kind] = static_cast<std::uint32_t>(sizes.size());
        sizes.push_back(0);
      }
      ++sizes[slot[f.kind]];
      ++(f.phase == 's' ? counts_.starts : f.phase == 't' ? counts_.steps : counts_.ends);
    });
    of_kind_.resize(sizes.size());
    for (std::size_t k = 0; k < sizes.size(); ++k) of_kind_[k].reserve(sizes[k]);
    flows_.each([&](const StoredFlow& f, std::size_t i) {
      of_kind_[slot[f.kind]].push_back({f.id, static_cast<std::uint32_t>(i)});
    });
  }

  // File order within an id. Wide ids, which may be equal although they are not packed so, get numbers in their place.
  void order_by_id(Members& members) {
    if (std::any_of(members.begin(), members.end(), [](const Member& m) { return OverflowValues::is_wide(m.id); }))
      number_wide(members);
    radix_sort(members, other_, [](const Member& m) { return m.id; });
  }
  void number_wide(Members& members) const {
    std::vector<std::pair<std::uint64_t, std::size_t>> wide;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (OverflowValues::is_wide(members[i].id)) wide.emplace_back(side_.overflow.unpack(members[i].id), i);
    }
    std::sort(wide.begin(), wide.end());
    std::uint32_t number = OverflowValues::kWide;
    for (std::size_t i = 0; i < wide.size(); ++i) {
      if (i > 0 && wide[i].first != wide[i - 1].first) ++number;
      members[wide[i].second].id = number;
    }
  }

  std::uint32_t category(const StoredFlow& f) const { return side_.flow_kinds[f.kind].category; }

  void note(ImportIssue kind, const StoredFlow& f) {
    const std::uint64_t offset = offset_of(f);
    report_.add(kind, offset,
                report_.wants_example(kind, offset)
                    ? fmt::format("{} {}", strings_[StringId(category(f))], side_.overflow.unpack(f.id))
                    : std::string());
  }

  // Nearly all groups: one start, one end, both on a slice.
  bool join_pair(std::span<const Member> group) {
    if (group.size() != 2) return false;
    const StoredFlow* start = &flows_[group[0].flow];
    const StoredFlow* end = &flows_[group[1].flow];
    if (start->phase == 'f') std::swap(start, end);
    if (start->phase != 's' || end->phase != 'f' || start->lane_or_slice == kUnbound || end->lane_or_slice == kUnbound)
      return false;
    joined_.push_back({start->lane_or_slice, end->lane_or_slice, category(*end)});
    ++counts_.bound;
    return true;
  }

  // Joins one group of equal key, in file order.
  void join_group(std::span<Member> group) {
    if (join_pair(group)) return;
    const auto flow = [&](std::size_t i) -> const StoredFlow& { return flows_[group[i].flow]; };
    const auto earlier = [&](const Member& a, const Member& b) { return flows_[a.flow].time() < flows_[b.flow].time(); };
    if (!std::is_sorted(group.begin(), group.end(), earlier)) std::stable_sort(group.begin(), group.end(), earlier);
    constexpr std::size_t kNone = ~std::size_t{0};
    // Clocks of GPU and CPU differ a little: an end before the only start still belongs to it.
    std::size_t current = kNone;
    for (std::size_t i = 0; i < group.size() && current == kNone; ++i) {
      if (flow(i).phase == 's') current = i;
    }
    std::vector<bool> used(group.size(), false);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const StoredFlow& f = flow(i);
      if (f.phase == 's') {
        current = i;
        continue;
      }
      const bool joined = current != kNone && flow(current).lane_or_slice != kUnbound && f.lane_or_slice != kUnbound;
      if (joined) {
        joined_.push_back({flow(current).lane_or_slice, f.lane_or_slice, category(f)});
        used[current] = true;
        ++counts_.bound;
      }
      if (f.phase == 'f') {
        counts_.unbound_ends += joined ? 0 : 1;
        if (!joined) note(ImportIssue::flow_end_alone, f);
      } else if (joined || current == kNone) {
        current = i;
      }
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (flow(i).phase != 's' || used[i]) continue;
      ++counts_.unbound_starts;
      note(ImportIssue::flow_start_alone, flow(i));
    }
  }

  const PagedRows<StoredFlow>& flows_;
  const SideTables& side_;
  const StringTable& strings_;
  FlowCounts& counts_;
  LoadReport& report_;
  std::vector<Members> of_kind_;
  Members other_;
  Column<JoinedFlow> joined_;
};

}  // namespace

Column<JoinedFlow> join_flows(const PagedRows<StoredFlow>& flows, const SideTables& side, const StringTable& strings,
                              FlowCounts& counts, LoadReport& report) {
  return FlowJoiner(flows, side, strings, counts, report).run();
}

}  // namespace gapscope
