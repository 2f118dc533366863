#include "core/index/lane_index.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "core/base/parallel.h"

namespace gapscope {
namespace {

std::vector<LaneId> deep_lanes(const Trace& trace) {
  std::vector<LaneId> deep;
  for (std::size_t l = 0; l < trace.lanes.size(); ++l)
    if (trace.lanes[l].depth_count >= DeepLane::kLeastDepths) deep.emplace_back(l);
  return deep;
}

}  // namespace

LaneIndex::LaneIndex(const Trace& trace, int threads, const std::atomic<bool>* cancel) : trace_(trace) {
  std::vector<std::optional<RowLevels>> made(trace.rows.size());
  parallel_for(threads, made.size(), [&](std::size_t r) {
    if (cancel != nullptr && *cancel) return;
    const Row& row = trace.rows[r];
    made[r].emplace(std::span(trace.slices.begin).subspan(row.first, row.count),
                    std::span(trace.slices.end).subspan(row.first, row.count));
  });
  if (cancel != nullptr && *cancel) return;
  levels_.reserve(made.size());
  for (auto& level : made) levels_.push_back(std::move(*level));

  const std::vector<LaneId> deep = deep_lanes(trace);
  if (!deep.empty()) deep_.resize(trace.lanes.size());
  parallel_for(threads, deep.size(),
               [&](std::size_t i) { deep_[deep[i].index()] = std::make_unique<const DeepLane>(trace, deep[i], cancel); });
}

SliceId LaneIndex::last_begin_at_or_before(RowId row_id, Ns t) const {
  const Row& row = trace_.row(row_id);
  const auto first = trace_.slices.begin.begin() + row.first;
  const auto after = std::upper_bound(first, first + row.count, t);
  return after == first ? SliceId{} : SliceId(row.first + static_cast<std::uint32_t>(after - first) - 1);
}

SliceId LaneIndex::first_begin_at_or_after(RowId row_id, Ns t) const {
  const Row& row = trace_.row(row_id);
  const auto first = trace_.slices.begin.begin() + row.first;
  const auto at = std::lower_bound(first, first + row.count, t);
  return at == first + row.count ? SliceId{} : SliceId(row.first + static_cast<std::uint32_t>(at - first));
}

SliceId LaneIndex::at(RowId row, Ns t) const {
  const RowSlices slices = slices_of(row);
  const std::size_t at = position_at(slices, t);
  return at < slices.begin.size() ? slices.id(at) : SliceId{};
}

RowSlices LaneIndex::slices_of(RowId row_id) const {
  const Row& row = trace_.row(row_id);
  const auto of_row = [&](const auto& column) { return std::span(column).subspan(row.first, row.count); };
  return {of_row(trace_.slices.begin), of_row(trace_.slices.end), &levels_[row_id.index()], row.first, {}};
}

void LaneIndex::visible(RowId row, Span view, int width_px, std::vector<VisibleItem>& out) const {
  visible_in_row(slices_of(row), view, width_px, out);
}

SliceId LaneIndex::parent(SliceId slice) const {
  const Row& row = trace_.row(slice);
  if (const DeepLane* lane = deep(row.lane)) return lane->parent(slice);
  const Ns begin = trace_.begin(slice);
  const Ns end = trace_.end(slice);
  for (std::uint32_t depth = row.depth; depth-- > 0;) {
    const SliceId above = last_begin_at_or_before(trace_.row_id(row.lane, depth), begin);
    if (!above) continue;
    const bool encloses = trace_.end(above) >= end && (begin < trace_.end(above));
    if (encloses) return above;
  }
  return {};
}

std::vector<SliceId> LaneIndex::ancestors(SliceId slice) const {
  std::vector<SliceId> chain;
  for (SliceId up = parent(slice); up; up = parent(up)) chain.push_back(up);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::vector<SliceId> LaneIndex::children(SliceId slice) const {
  const Row& row = trace_.row(slice);
  if (const DeepLane* lane = deep(row.lane)) {
    const auto known = lane->children(slice);
    return {known.begin(), known.end()};
  }
  std::vector<SliceId> found;
  const Lane& lane = trace_.lane(row.lane);
  const Span span = trace_.span_of(slice);
  // Without overlaps every child is one depth below; an overlapping one may sit deeper.
  const std::uint32_t last_depth = lane.overlapping == 0 ? std::min(row.depth + 2, lane.depth_count) : lane.depth_count;
  for (std::uint32_t depth = row.depth + 1; depth < last_depth; ++depth) {
    SliceId s = first_begin_at_or_after(trace_.row_id(row.lane, depth), span.begin);
    const Row& below = trace_.row(trace_.row_id(row.lane, depth));
    for (; s && s.value < below.first + below.count && trace_.begin(s) < span.end; s = SliceId(s.value + 1)) {
      if (parent(s) == slice) found.push_back(s);
    }
  }
  std::sort(found.begin(), found.end(),
            [&](SliceId a, SliceId b) { return std::pair(trace_.begin(a), a) < std::pair(trace_.begin(b), b); });
  return found;
}

Ns LaneIndex::self_time(SliceId slice) const {
  Ns self = trace_.duration(slice), covered_until = trace_.begin(slice);
  for (const SliceId child : children(slice)) {
    self -= std::max<Ns>(trace_.end(child) - std::max(trace_.begin(child), covered_until), 0);
    covered_until = std::max(covered_until, trace_.end(child));
  }
  return self;
}

SliceId LaneIndex::innermost_at(LaneId lane_id, Ns t) const {
  if (const DeepLane* lane = deep(lane_id)) return lane->innermost_at(t);
  for (std::uint32_t depth = trace_.lane(lane_id).depth_count; depth-- > 0;) {
    if (const SliceId s = at(trace_.row_id(lane_id, depth), t)) return s;
  }
  return {};
}

SliceId LaneIndex::innermost_op_at(LaneId lane_id, Ns t) const {
  if (const DeepLane* lane = deep(lane_id)) return lane->innermost_op_at(t);
  for (std::uint32_t depth = trace_.lane(lane_id).depth_count; depth-- > 0;) {
    const SliceId s = at(trace_.row_id(lane_id, depth), t);
    if (s && (trace_.kind(s) == Kind::op || trace_.kind(s) == Kind::annotation)) return s;
  }
  return {};
}

SliceId LaneIndex::next_in_row(SliceId slice) const {
  const Row& row = trace_.row(slice);
  return slice.value + 1 < row.first + row.count ? SliceId(slice.value + 1) : SliceId{};
}

SliceId LaneIndex::previous_in_row(SliceId slice) const {
  return slice.value > trace_.row(slice).first ? SliceId(slice.value - 1) : SliceId{};
}

}  // namespace gapscope
