#include "core/analyze/modules/module_side.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/base/saturating.h"

namespace gapscope {
namespace {

void add_flops(std::int64_t flops, Ns time, ModuleTotals& totals) {
  std::int64_t sum = static_cast<std::int64_t>(totals.flops);
  add_saturating(sum, flops);
  totals.flops = static_cast<std::uint64_t>(sum);
  add_saturating(totals.flops_time, time);
}

// Sums of charges in order of their moments, so that those of any stretch of a thread are a difference.
class ChargeSums {
 public:
  explicit ChargeSums(const std::vector<Charge>& charges) {
    std::vector<std::uint32_t> order(charges.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto key = [&](std::uint32_t i) { return std::tuple(charges[i].moment.at.lane, charges[i].moment.at.time); };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    sums_.reserve(order.size() + 1);
    sums_.emplace_back();
    for (const std::uint32_t i : order) {
      Sum sum = sums_.back();
      (charges[i].moment.backward ? sum.backward : sum.forward) += charges[i].duration;
      sum.kernels += charges[i].is_kernel ? 1 : 0;
      sum.flops += charges[i].flops;
      if (charges[i].has_flops) sum.flops_time += charges[i].duration;
      sum.bytes += charges[i].bytes;
      sum.bytes_at_peak += charges[i].bytes_at_peak;
      sums_.push_back(sum);
      at_.push_back(charges[i].moment.at);
    }
  }

  // Adds what is in [span.begin, span.end) of the thread.
  void add(LaneId lane, Span span, ModuleTotals& totals) const {
    const Sum &first = sums_[before(lane, span.begin)], &last = sums_[before(lane, span.end)];
    add_saturating(totals.forward, narrow(last.forward - first.forward));
    add_saturating(totals.backward, narrow(last.backward - first.backward));
    totals.kernels += last.kernels - first.kernels;
    add_flops(narrow(last.flops - first.flops), narrow(last.flops_time - first.flops_time), totals);
    add_saturating(totals.allocated, narrow(last.bytes - first.bytes));
    add_saturating(totals.at_peak, narrow(last.bytes_at_peak - first.bytes_at_peak));
  }

 private:
  struct Sum {
    __int128 forward = 0, backward = 0, flops = 0, flops_time = 0, bytes = 0, bytes_at_peak = 0;
    std::uint64_t kernels = 0;
  };
  static Ns narrow(__int128 sum) { return static_cast<Ns>(std::min<__int128>(sum, std::numeric_limits<Ns>::max())); }
  std::size_t before(LaneId lane, Ns time) const {
    const auto is_before = [&](const Moment& m) { return std::tuple(m.lane, m.time) < std::tuple(lane, time); };
    return static_cast<std::size_t>(std::partition_point(at_.begin(), at_.end(), is_before) - at_.begin());
  }

  std::vector<Moment> at_;
  std::vector<Sum> sums_;  // one more
};

void add_self(const Charge& charge, ModuleTotals& totals) {
  add_saturating(charge.moment.backward ? totals.self_backward : totals.self_forward, charge.duration);
}

// The frames of one group in their order: adds up what the union of them covers.
class GroupTotals {
 public:
  GroupTotals(const ModuleSide& side, const ChargeSums& sums, bool counts_calls, ModuleTotals& totals)
      : side_(side), sums_(sums), counts_calls_(counts_calls), totals_(totals) {}
  ~GroupTotals() { close(); }
  GroupTotals(const GroupTotals&) = delete;
  GroupTotals& operator=(const GroupTotals&) = delete;

  void add(std::uint32_t frame) {
    const SliceId slice = side_.frames[frame];
    const Span span = side_.trace.span_of(slice);
    const LaneId lane = side_.trace.lane_id(slice);
    const bool lies_in_another = any_ && lane == lane_ && span.end <= union_.end;
    if (counts_calls_) {
      ++totals_.calls;
      if (!lies_in_another) add_saturating(totals_.host, side_.trace.duration(slice));
    }
    if (any_ && lane == lane_ && span.begin <= union_.end) {
      union_.end = std::max(union_.end, span.end);
      return;
    }
    close();
    any_ = true;
    lane_ = lane;
    union_ = span;
  }

 private:
  void close() {
    if (any_) sums_.add(lane_, union_, totals_);
  }

  const ModuleSide& side_;
  const ChargeSums& sums_;
  const bool counts_calls_;
  ModuleTotals& totals_;
  bool any_ = false;
  LaneId lane_;
  Span union_;
};

}  // namespace

void add_totals(const ModuleSide& side, const std::vector<std::uint32_t>& group_of, bool counts_calls,
                std::vector<ModuleTotals>& totals) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t f = 0; f < group_of.size(); ++f)
    if (group_of[f] != kNoGroup) order.push_back(f);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return group_of[a] < group_of[b]; });
  const ChargeSums sums(side.charges);
  for (std::size_t i = 0; i < order.size();) {
    const std::uint32_t group = group_of[order[i]];
    GroupTotals adder(side, sums, counts_calls, totals[group]);
    for (; i < order.size() && group_of[order[i]] == group; ++i) adder.add(order[i]);
  }
  for (const Charge& charge : side.charges)
    if (const std::uint32_t group = group_of[charge.moment.frame]; group != kNoGroup) add_self(charge, totals[group]);
}

std::vector<std::uint32_t> ModuleTree::add_frames(const ModuleSide& side, const std::vector<std::uint32_t>& row_of,
                                                  const std::vector<bool>& wanted) {
  std::vector<std::uint32_t> node_of(row_of.size(), kNoGroup);
  for (std::uint32_t f = 0; f < row_of.size(); ++f) {
    if (!wanted[f]) continue;
    const std::uint32_t parent = side.parents[f] == NestedSlices::kNone ? ModuleNode::kNoParent : node_of[side.parents[f]];
    const auto [known, is_new] =
        child_.try_emplace(std::uint64_t{parent} << 32 | row_of[f], static_cast<std::uint32_t>(nodes_.size()));
    node_of[f] = known->second;
    if (!is_new) continue;
    nodes_.push_back({row_of[f], parent, parent == ModuleNode::kNoParent ? 0 : nodes_[parent].depth + 1, {}, {}});
  }
  return node_of;
}

void ModuleTree::add_times(const ModuleSide& side, const std::vector<std::uint32_t>& node_of, bool counts_calls) {
  for (std::uint32_t f = 0; f < node_of.size() && counts_calls; ++f) {
    if (node_of[f] == kNoGroup) continue;
    ModuleNode& node = nodes_[node_of[f]];
    if (!node.first || side.trace.begin(side.frames[f]) < side.trace.begin(node.first)) node.first = side.frames[f];
    ++node.totals.calls;
    add_saturating(node.totals.host, side.trace.duration(side.frames[f]));
  }
  for (const Charge& charge : side.charges) {
    ModuleTotals& totals = nodes_[node_of[charge.moment.frame]].totals;
    add_self(charge, totals);
    add_saturating(charge.moment.backward ? totals.backward : totals.forward, charge.duration);
    totals.kernels += charge.is_kernel ? 1 : 0;
    add_flops(static_cast<std::int64_t>(charge.flops), charge.has_flops ? charge.duration : 0, totals);
    add_saturating(totals.allocated, charge.bytes);
    add_saturating(totals.at_peak, charge.bytes_at_peak);
  }
}

std::vector<ModuleNode> ModuleTree::finish(const std::vector<std::uint32_t>& rank) {
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    if (nodes_[n].parent == ModuleNode::kNoParent) continue;
    ModuleTotals& parent = nodes_[nodes_[n].parent].totals;
    add_saturating(parent.forward, nodes_[n].totals.forward);
    add_saturating(parent.backward, nodes_[n].totals.backward);
    parent.kernels += nodes_[n].totals.kernels;
    add_flops(static_cast<std::int64_t>(nodes_[n].totals.flops), nodes_[n].totals.flops_time, parent);
    add_saturating(parent.allocated, nodes_[n].totals.allocated);
    add_saturating(parent.at_peak, nodes_[n].totals.at_peak);
  }
  // Children in their order, found by going down from the roots without recursion.
  std::vector<std::vector<std::uint32_t>> children(nodes_.size() + 1);
  for (std::uint32_t n = 0; n < nodes_.size(); ++n)
    children[nodes_[n].parent == ModuleNode::kNoParent ? nodes_.size() : nodes_[n].parent].push_back(n);
  for (auto& of_one : children)
    std::sort(of_one.begin(), of_one.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(-nodes_[a].totals.gpu(), rank[nodes_[a].row]) <
             std::tuple(-nodes_[b].totals.gpu(), rank[nodes_[b].row]);
    });
  std::vector<ModuleNode> out;
  std::vector<std::uint32_t> todo(children.back().rbegin(), children.back().rend()), place(nodes_.size());
  while (!todo.empty()) {
    const std::uint32_t n = todo.back();
    todo.pop_back();
    place[n] = static_cast<std::uint32_t>(out.size());
    ModuleNode& node = out.emplace_back(nodes_[n]);
    node.row = rank[node.row];
    if (node.parent != ModuleNode::kNoParent) node.parent = place[node.parent];
    todo.insert(todo.end(), children[n].rbegin(), children[n].rend());
  }
  return out;
}

}  // namespace gapscope
