#include "core/index/link_index.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/column.h"
#include "core/base/parallel.h"
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

LinkIndex::LinkIndex(const Trace& trace, const LaneIndex& lanes, int threads, const std::atomic<bool>* cancel)
    : trace_(trace), lanes_(lanes) {
  const std::array<void (LinkIndex::*)(), 3> parts = {&LinkIndex::join_operators, &LinkIndex::join_calls,
                                                      &LinkIndex::sort_flows};
  parallel_for(threads, parts.size(), [&](std::size_t i) {
    if (cancel == nullptr || !*cancel) (this->*parts[i])();
  });
  count(threads, cancel);
}

void LinkIndex::join_operators() {
  std::vector<std::uint8_t> owns(trace_.categories.size());
  for (std::size_t c = 0; c < owns.size(); ++c) {
    owns[c] = trace_.categories[c].kind == Kind::op || trace_.categories[c].kind == Kind::annotation;
  }
  const auto each_owner = [&](auto take) {
    for (std::size_t s = 0; s < trace_.slice_count(); ++s) {
      const std::uint64_t id = trace_.slices.external_id[s];
      if (id != 0 && owns[trace_.slices.category[s]] != 0) take(id, static_cast<std::uint32_t>(s));
    }
  };
  op_of_external_id_ = IdMap<std::uint32_t>(trace_.slice_count(), kNoSlice);
  each_owner([&](std::uint64_t id, std::uint32_t) { op_of_external_id_.expect(id); });
  op_of_external_id_.seal();
  each_owner([&](std::uint64_t id, std::uint32_t slice) { keep_first(op_of_external_id_[id], slice, trace_); });
}

void LinkIndex::join_calls() {
  call_of_correlation_ = IdMap<std::uint32_t>(trace_.calls.size(), kNoSlice);
  for (const Call& call : trace_.calls) {
    if (call.correlation != 0) call_of_correlation_.expect(call.correlation);
  }
  call_of_correlation_.seal();
  const auto& offset = trace_.slices.offset;
  for (const Call& call : trace_.calls) {
    if (call.correlation == 0) continue;
    std::uint32_t& known = call_of_correlation_[call.correlation];
    if (known == kNoSlice || offset[call.slice.index()] < offset[known]) known = call.slice.value;
  }
  group_launched();
}

void LinkIndex::sort_flows() {
  struct Entry {
    std::uint32_t to;
    std::uint32_t flow;
  };
  Column<Entry> entries(trace_.flows.size()), other;
  flow_from_.resize(entries.size());
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    entries[i] = {trace_.flows[i].to.value, i};
    flow_from_[i] = i;
  }
  radix_sort(entries, other, [](const Entry& e) { return e.to; });
  flow_to_.reserve(entries.size());
  for (const Entry& e : entries) flow_to_.push_back(e.flow);
}

void LinkIndex::count(int threads, const std::atomic<bool>* cancel) {
  constexpr std::size_t kRows = 16'384;
  std::vector<LaunchCounts> counts(trace_.gpu.size() / kRows + 1);
  parallel_for(threads, counts.size(), [&](std::size_t part) {
    if (cancel != nullptr && *cancel) return;
    LaunchCounts n;
    for (std::size_t i = part * kRows; i < std::min(trace_.gpu.size(), (part + 1) * kRows); ++i) {
      const GpuRow& row = trace_.gpu[i];
      if (!is_gpu_work(trace_.kind(row.slice))) continue;
      ++n.gpu_slices;
      n.joined_to_call += call_of(row) ? 1 : 0;
      n.joined_to_op += owner_op(row) ? 1 : 0;
    }
    counts[part] = n;
  });
  for (const LaunchCounts& n : counts) {
    counts_.gpu_slices += n.gpu_slices;
    counts_.joined_to_call += n.joined_to_call;
    counts_.joined_to_op += n.joined_to_op;
  }
}

// GPU slices by launching call, each call's in time order.
void LinkIndex::group_launched() {
  struct Launch {
    std::uint32_t call;
    SliceId slice;
  };
  Column<Launch> launches, other;
  launches.reserve(trace_.gpu.size());
  for (const GpuRow& row : trace_.gpu) {
    if (const SliceId call = call_of(row)) launches.push_back({call.value, row.slice});
  }
  radix_sort(launches, other, [](const Launch& launch) { return launch.call; });
  launched_.reserve(launches.size());
  for (const auto& [call, slice] : launches) {
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
