#include "core/sql/slice_order.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/analyze/account/time_walk.h"

namespace gapscope::sql {
namespace {

// Slices in the order of their ids, handed on one by one.
template <class Put>
void each_slice_in_order(const Trace& trace, Put put) {
  std::vector<std::uint32_t> together;  // that begin at one time
  Ns time = 0;
  const auto flush = [&] {
    if (together.size() > 1)
      std::sort(together.begin(), together.end(), [&](std::uint32_t a, std::uint32_t b) {
        const Ns a_end = trace.slices.end[a], b_end = trace.slices.end[b];
        return a_end != b_end ? a_end > b_end : trace.slices.offset[a] < trace.slices.offset[b];
      });
    for (const std::uint32_t slice : together) put(slice, time);
    together.clear();
  };
  walk_by_time(trace, all_rows(trace), std::vector<std::uint8_t>(trace.categories.size(), 1), {}, [&](SliceId slice, Ns begin) {
    if (begin != time) flush();
    time = begin;
    together.push_back(slice.value);
  });
  flush();
}

std::vector<std::uint32_t> instants_in_order(const Trace& trace) {
  std::vector<std::uint32_t> order(trace.instants.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Instant &x = trace.instants[a], &y = trace.instants[b];
    return x.time != y.time ? x.time < y.time : x.offset < y.offset;
  });
  return order;
}

bool encloses(const Trace& trace, SliceId outer, Ns begin, Ns end) {
  return trace.begin(outer) <= begin && begin < trace.end(outer) && trace.end(outer) >= end;
}

// The innermost slice of a lane that holds `t`; an empty one holds nothing.
SliceId encloser(const Trace& trace, const LaneIndex& lanes, LaneId lane, Ns t) {
  const SliceId found = lanes.innermost_at(lane, t);
  return found && !encloses(trace, found, t, t) ? lanes.parent(found) : found;
}

}  // namespace

SliceOrder::SliceOrder(const Trace& trace) : trace_(trace), slices_(static_cast<std::uint32_t>(trace.slice_count())) {
  const std::size_t n = trace.slice_count() + trace.instants.size();
  row_of_id_.resize(n);
  id_of_row_.resize(n);
  const std::vector<std::uint32_t> instants = instants_in_order(trace);
  std::size_t next_instant = 0;
  std::uint32_t id = 0;
  const auto put = [&](SliceRow row) {
    id_of_row_[row] = id;
    row_of_id_[id++] = row;
  };
  // An instant comes after what begins with it, but for slices of no duration, which it is one of.
  const auto put_instants_before = [&](std::uint32_t slice, Ns begin) {
    while (next_instant < instants.size()) {
      const Instant& instant = trace.instants[instants[next_instant]];
      const bool is_first = instant.time != begin
                                ? instant.time < begin
                                : trace.slices.end[slice] == begin && instant.offset < trace.slices.offset[slice];
      if (!is_first) return;
      put(row_of_instant(instants[next_instant++]));
    }
  };
  each_slice_in_order(trace, [&](std::uint32_t slice, Ns begin) {
    put_instants_before(slice, begin);
    put(slice);
  });
  while (next_instant < instants.size()) put(row_of_instant(instants[next_instant++]));
}

std::uint32_t SliceOrder::first_at_or_after(Ns t) const {
  const auto at = std::partition_point(row_of_id_.begin(), row_of_id_.end(), [&](SliceRow row) { return begin(row) < t; });
  return static_cast<std::uint32_t>(at - row_of_id_.begin());
}

SliceTree::SliceTree(const Trace& trace, const SliceOrder& order, const LaneIndex& lanes) {
  parent_.resize(order.size());
  depth_.resize(order.size());
  for (const Row& row : trace.rows) nest_row(trace, lanes, row);  // outer ones first
  for (std::size_t i = 0; i < trace.instants.size(); ++i) {
    const Instant& instant = trace.instants[i];
    put(order.row_of_instant(i), instant.lane.valid() ? encloser(trace, lanes, instant.lane, instant.time) : SliceId{});
  }
}

void SliceTree::put(SliceRow row, SliceId parent) {
  parent_[row] = parent;
  depth_[row] = parent ? depth_[parent.index()] + 1 : 0;
}

// Mostly the parent is in the row above, and both rows are walked side by side.
void SliceTree::nest_row(const Trace& trace, const LaneIndex& lanes, const Row& row) {
  if (row.depth == 0) {
    for (std::uint32_t s = row.first; s < row.first + row.count; ++s) put(s, {});
    return;
  }
  const Row& above = trace.row(trace.row_id(row.lane, row.depth - 1));
  std::uint32_t next = above.first;
  for (std::uint32_t s = row.first; s < row.first + row.count; ++s) {
    const Ns begin = trace.slices.begin[s], end = trace.slices.end[s];
    while (next < above.first + above.count && trace.slices.begin[next] <= begin) ++next;
    const bool in_row_above = next > above.first && encloses(trace, SliceId(next - 1), begin, end);
    put(s, in_row_above ? SliceId(next - 1) : lanes.parent(SliceId(s)));
  }
}

}  // namespace gapscope::sql
