#include "core/index/link_index.h"

#include <algorithm>

#include "core/base/radix_sort.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kNoSlice = 0xFFFF'FFFFu;

// Keeps the first in time of the slices that share an id.
void keep_first(std::uint32_t& known, std::uint32_t slice, const Trace& trace) {
  const auto& begin = trace.slices.begin;
  if (known == kNoSlice || begin[slice] < begin[known]) known = slice;
}

}  // namespace

LinkIndex::LinkIndex(const Trace& trace, const LaneIndex& lanes, const std::atomic<bool>* cancel) : trace_(trace), lanes_(lanes) {
  const auto cancelled = [&] { return cancel != nullptr && *cancel; };
  if (cancelled()) return;
  call_of_correlation_ = IdMap<std::uint32_t>(trace.calls.size(), kNoSlice);
  for (const Call& call : trace.calls) {
    if (call.correlation != 0) keep_first(call_of_correlation_[call.correlation], call.slice.value, trace);
  }
  if (cancelled()) return;
  join_operators();
  if (cancelled()) return;
  group_launched();
  if (cancelled()) return;
  flow_from_.resize(trace.flows.size());
  flow_to_.resize(trace.flows.size());
  for (std::uint32_t i = 0; i < flow_from_.size(); ++i) flow_from_[i] = flow_to_[i] = i;
  std::vector<std::uint32_t> other;
  radix_sort(flow_to_, other, [&](std::uint32_t flow) { return trace.flows[flow].to.value; });
  for (const GpuRow& row : trace.gpu) {
    if (!is_gpu_work(trace.kind(row.slice))) continue;
    if (cancelled()) return;
    ++counts_.gpu_slices;
    counts_.joined_to_call += call_of(row) ? 1 : 0;
    counts_.joined_to_op += owner_op(row) ? 1 : 0;
  }
}

void LinkIndex::join_operators() {
  std::vector<bool> owns(trace_.categories.size());
  for (std::size_t c = 0; c < owns.size(); ++c) {
    owns[c] = trace_.categories[c].kind == Kind::op || trace_.categories[c].kind == Kind::annotation;
  }
  std::size_t owners = 0;
  const auto is_owner = [&](std::size_t s) { return trace_.slices.external_id[s] != 0 && owns[trace_.slices.category[s]]; };
  for (std::size_t s = 0; s < trace_.slice_count(); ++s) owners += is_owner(s) ? 1 : 0;
  op_of_external_id_ = IdMap<std::uint32_t>(owners, kNoSlice);
  for (std::size_t s = 0; s < trace_.slice_count(); ++s) {
    if (is_owner(s)) keep_first(op_of_external_id_[trace_.slices.external_id[s]], static_cast<std::uint32_t>(s), trace_);
  }
}

// GPU slices by launching call, each call's in time order.
void LinkIndex::group_launched() {
  std::vector<std::pair<std::uint32_t, SliceId>> pairs;
  pairs.reserve(trace_.gpu.size());
  for (const GpuRow& row : trace_.gpu) {
    if (const SliceId call = call_of(row)) pairs.emplace_back(call.value, row.slice);
  }
  std::vector<std::pair<std::uint32_t, SliceId>> other;
  radix_sort(pairs, other, [](const auto& pair) { return pair.first; });
  launched_.reserve(pairs.size());
  for (const auto& [call, slice] : pairs) {
    if (call_at_.empty() || call_at_.back() != call) {
      call_at_.push_back(call);
      launched_first_.push_back(static_cast<std::uint32_t>(launched_.size()));
    }
    launched_.push_back(slice);
  }
  launched_first_.push_back(static_cast<std::uint32_t>(launched_.size()));
  for (std::size_t i = 0; i < call_at_.size(); ++i) {  // most calls launch one
    if (launched_first_[i + 1] - launched_first_[i] == 1) continue;
    std::sort(launched_.begin() + launched_first_[i], launched_.begin() + launched_first_[i + 1],
              [&](SliceId a, SliceId b) { return std::pair(trace_.begin(a), a) < std::pair(trace_.begin(b), b); });
  }
}

SliceId LinkIndex::call_of(const GpuRow& row) const {
  return row.correlation == 0 ? SliceId{} : SliceId(call_of_correlation_.find(row.correlation));
}

SliceId LinkIndex::call_of(SliceId gpu_slice) const {
  const GpuRow* row = trace_.gpu_row(gpu_slice);
  return row == nullptr ? SliceId{} : call_of(*row);
}

std::span<const SliceId> LinkIndex::launched_by(SliceId slice) const {
  const auto at = std::lower_bound(call_at_.begin(), call_at_.end(), slice.value);
  if (at == call_at_.end() || *at != slice.value) return {};
  const auto i = static_cast<std::size_t>(at - call_at_.begin());
  return std::span(launched_).subspan(launched_first_[i], launched_first_[i + 1] - launched_first_[i]);
}

SliceId LinkIndex::op_with_external_id(std::uint64_t id) const {
  return id == 0 ? SliceId{} : SliceId(op_of_external_id_.find(id));
}

SliceId LinkIndex::owner_op(const GpuRow& row) const {
  if (const SliceId op = op_with_external_id(trace_.slices.external_id[row.slice.index()])) return op;
  const SliceId call = call_of(row);
  return call ? lanes_.innermost_op_at(trace_.lane_id(call), trace_.begin(call)) : SliceId{};
}

SliceId LinkIndex::owner_op(SliceId gpu_slice) const {
  if (const GpuRow* row = trace_.gpu_row(gpu_slice)) return owner_op(*row);
  return op_with_external_id(trace_.slices.external_id[gpu_slice.index()]);
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
