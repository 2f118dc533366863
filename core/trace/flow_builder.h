#pragma once
// Arrows: each end of a flow is bound to a slice, then starts are joined with their ends.
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/paged_rows.h"
#include "core/trace/load_report.h"
#include "core/trace/raw_rows.h"
#include "core/trace/tables.h"

namespace gapscope {

// Binds the flows of one lane (ordered by time) to its slices (`sorted`: positions in `begin`, ... in (begin, longer first) order):
// to a slice that begins at exactly that time, preferring the kind that such arrows join and then the innermost, else to
// the innermost slice around that time. Sets RawFlow::slice.
void bind_lane_flows(std::span<RawFlow* const> flows, std::span<const std::uint32_t> sorted, std::span<const Ns> begin,
                     std::span<const Ns> end, std::span<const std::uint8_t> kinds);

// Joins starts, steps and ends of equal (category, name, id). `flows` are in file order and carry global text ids.
// Returns pairs of RawFlow::slice with the category.
struct JoinedFlow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t category = 0;
};
std::vector<JoinedFlow> join_flows(const PagedRows<RawFlow>& flows, const StringTable& strings, FlowCounts& counts, LoadReport& report);

}  // namespace gapscope
