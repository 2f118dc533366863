#include "core/index/link_index.h"

#include <algorithm>

namespace gapscope {
namespace {

template <class Joins>
std::size_t position_of(const Joins& joins, std::uint64_t id) {
  const auto at = std::lower_bound(joins.begin(), joins.end(), id, [](const auto& j, std::uint64_t v) { return j.id < v; });
  return at != joins.end() && at->id == id ? static_cast<std::size_t>(at - joins.begin()) : joins.size();
}

// Sorted by (id, begin); of equal ids only the first in time stays.
template <class Joins>
void sort_and_keep_first(Joins& joins, const Trace& trace) {
  const auto before = [&](const auto& a, const auto& b) {
    if (a.id != b.id) return a.id < b.id;
    return std::pair(trace.slices.begin[a.at], a.at) < std::pair(trace.slices.begin[b.at], b.at);
  };
  if (!std::is_sorted(joins.begin(), joins.end(), before)) std::sort(joins.begin(), joins.end(), before);
  const auto last = std::unique(joins.begin(), joins.end(), [](const auto& a, const auto& b) { return a.id == b.id; });
  joins.erase(last, joins.end());
  joins.shrink_to_fit();
}

}  // namespace

LinkIndex::LinkIndex(const Trace& trace, const LaneIndex& lanes) : trace_(trace), lanes_(lanes) {
  for (const Call& call : trace.calls) {
    if (call.correlation != 0) call_by_correlation_.push_back({call.correlation, call.slice.value});
  }
  sort_and_keep_first(call_by_correlation_, trace);

  std::vector<bool> owns(trace.categories.size());
  for (std::size_t c = 0; c < owns.size(); ++c) {
    owns[c] = trace.categories[c].kind == Kind::op || trace.categories[c].kind == Kind::annotation;
  }
  std::size_t owners = 0;
  const auto is_owner = [&](std::size_t s) { return trace.slices.external_id[s] != 0 && owns[trace.slices.category[s]]; };
  for (std::size_t s = 0; s < trace.slice_count(); ++s) owners += is_owner(s) ? 1 : 0;
  op_by_external_id_.reserve(owners);
  for (std::size_t s = 0; s < trace.slice_count(); ++s) {
    if (is_owner(s)) op_by_external_id_.push_back({trace.slices.external_id[s], static_cast<std::uint32_t>(s)});
  }
  sort_and_keep_first(op_by_external_id_, trace);

  // GPU slices by launching call: count, then place, in time order.
  std::vector<std::pair<std::uint32_t, SliceId>> pairs;
  for (const GpuRow& row : trace.gpu) {
    if (row.correlation == 0) continue;
    const std::size_t at = position_of(call_by_correlation_, row.correlation);
    if (at < call_by_correlation_.size()) pairs.emplace_back(static_cast<std::uint32_t>(at), row.slice);
  }
  std::sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return std::pair(trace.begin(a.second), a.second) < std::pair(trace.begin(b.second), b.second);
  });
  launched_first_.assign(call_by_correlation_.size() + 1, 0);
  launched_.reserve(pairs.size());
  for (const auto& [at, slice] : pairs) {
    ++launched_first_[at + 1];
    launched_.push_back(slice);
  }
  for (std::size_t i = 1; i < launched_first_.size(); ++i) launched_first_[i] += launched_first_[i - 1];

  flow_from_.resize(trace.flows.size());
  flow_to_.resize(trace.flows.size());
  for (std::uint32_t i = 0; i < flow_from_.size(); ++i) flow_from_[i] = flow_to_[i] = i;
  std::stable_sort(flow_to_.begin(), flow_to_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return trace.flows[a].to < trace.flows[b].to; });

  for (const GpuRow& row : trace.gpu) {
    if (!is_gpu_work(trace.kind(row.slice))) continue;
    ++counts_.gpu_slices;
    counts_.joined_to_call += call_of(row.slice) ? 1 : 0;
    counts_.joined_to_op += owner_op(row.slice) ? 1 : 0;
  }
}

SliceId LinkIndex::call_of(SliceId gpu_slice) const {
  const GpuRow* row = trace_.gpu_row(gpu_slice);
  if (row == nullptr || row->correlation == 0) return {};
  const std::size_t at = position_of(call_by_correlation_, row->correlation);
  return at < call_by_correlation_.size() ? SliceId(call_by_correlation_[at].at) : SliceId{};
}

std::span<const SliceId> LinkIndex::launched_by(SliceId slice) const {
  const Call* call = trace_.call(slice);
  if (call == nullptr || call->correlation == 0) return {};
  const std::size_t at = position_of(call_by_correlation_, call->correlation);
  if (at == call_by_correlation_.size() || call_by_correlation_[at].at != slice.value) return {};
  return std::span(launched_).subspan(launched_first_[at], launched_first_[at + 1] - launched_first_[at]);
}

SliceId LinkIndex::op_with_external_id(std::uint64_t id) const {
  if (id == 0) return {};
  const std::size_t at = position_of(op_by_external_id_, id);
  return at < op_by_external_id_.size() ? SliceId(op_by_external_id_[at].at) : SliceId{};
}

SliceId LinkIndex::owner_op(SliceId gpu_slice) const {
  if (const SliceId op = op_with_external_id(trace_.slices.external_id[gpu_slice.index()])) return op;
  const SliceId call = call_of(gpu_slice);
  return call ? lanes_.innermost_op_at(trace_.lane_id(call), trace_.begin(call)) : SliceId{};
}

std::span<const std::uint32_t> LinkIndex::flows_from(SliceId slice) const {
  const auto& flows = trace_.flows;
  const auto before = [](const Flow& f, SliceId s) { return f.from < s; };
  const auto after = [](SliceId s, const Flow& f) { return s < f.from; };
  const auto first = std::lower_bound(flows.begin(), flows.end(), slice, before) - flows.begin();
  const auto last = std::upper_bound(flows.begin(), flows.end(), slice, after) - flows.begin();
  return std::span(flow_from_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
}

std::span<const std::uint32_t> LinkIndex::flows_to(SliceId slice) const {
  const auto before = [&](std::uint32_t f, SliceId s) { return trace_.flows[f].to < s; };
  const auto after = [&](SliceId s, std::uint32_t f) { return s < trace_.flows[f].to; };
  const auto first = std::lower_bound(flow_to_.begin(), flow_to_.end(), slice, before) - flow_to_.begin();
  const auto last = std::upper_bound(flow_to_.begin(), flow_to_.end(), slice, after) - flow_to_.begin();
  return std::span(flow_to_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
}

}  // namespace gapscope
