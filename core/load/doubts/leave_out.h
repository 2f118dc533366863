#pragma once
// Events that are left out before a trace is made of a file's rows.
#include <cstdint>
#include <utility>
#include <vector>

#include "core/build/row_store.h"

namespace gapscope {

// Side rows without those whose slice goes; the others count their slices anew.
template <class Rows>
void leave_out_rows(Rows& rows, const std::vector<std::uint32_t>& place) {
  Rows left;
  rows.each([&](auto row, std::size_t) {
    if (place[row.slice] == kUnbound) return;
    row.slice = place[row.slice];
    left.push_back(row);
  });
  rows = std::move(left);
}

// All that `goes(lane, time)`, but for counters.
template <class Goes>
void leave_out(RowStore& rows, Goes goes) {
  std::vector<std::uint32_t> place(rows.slices.size(), kUnbound);
  PagedRows<StoredSlice> slices;
  rows.slices.each([&](const StoredSlice& s, std::size_t position) {
    if (goes(s.lane, s.begin)) return;
    place[position] = static_cast<std::uint32_t>(slices.size());
    slices.push_back(s);
  });
  rows.slices = std::move(slices);
  leave_out_rows(rows.gpu, place);
  leave_out_rows(rows.calls, place);
  leave_out_rows(rows.ops, place);
  PagedRows<StoredFlow> flows;
  rows.flows.each([&](const StoredFlow& f, std::size_t) {
    if (!goes(f.lane_or_slice, f.time())) flows.push_back(f);
  });
  rows.flows = std::move(flows);
  PagedRows<StoredInstant> instants;
  rows.instants.each([&](const StoredInstant& i, std::size_t) {
    if (!goes(i.lane, i.time)) instants.push_back(i);
  });
  rows.instants = std::move(instants);
  PagedRows<StoredMemory> memory;
  rows.memory.each([&](const StoredMemory& m, std::size_t) {
    if (!goes(unpack(m, *rows.side).lane.value, m.time)) memory.push_back(m);
  });
  rows.memory = std::move(memory);
}

}  // namespace gapscope
