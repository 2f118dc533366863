#include "core/index/lane_index.h"

#include <algorithm>

namespace gapscope {
namespace {

// First position in [from, to) whose begin is >= t. Doubles its steps first: the answer is usually near `from`.
std::uint32_t gallop_begin(const std::vector<Ns>& begin, std::uint32_t from, std::uint32_t to, Ns t) {
  std::uint32_t step = 1;
  std::uint32_t low = from;
  while (low + step < to && begin[low + step] < t) {
    low += step;
    step *= 2;
  }
  const std::uint32_t high = std::min(to, low + step);
  const auto first = begin.begin();
  return static_cast<std::uint32_t>(std::lower_bound(first + low, first + high, t) - first);
}

// `t` lies inside the slice; an empty slice holds only its own instant.
bool covers(Ns begin, Ns end, Ns t) { return begin <= t && (t < end || (begin == end && t == begin)); }

}  // namespace

LaneIndex::LaneIndex(const Trace& trace) : trace_(trace) {}

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
  const SliceId slice = last_begin_at_or_before(row, t);
  return slice && covers(trace_.begin(slice), trace_.end(slice), t) ? slice : SliceId{};
}

void LaneIndex::visible(RowId row_id, Span view, int width_px, std::vector<VisibleItem>& out) const {
  const Row& row = trace_.row(row_id);
  if (row.count == 0 || view.empty() || width_px < 1) return;
  const auto& begin = trace_.slices.begin;
  const auto& end = trace_.slices.end;
  const std::uint32_t stop = row.first + row.count;
  const SliceId before = last_begin_at_or_before(row_id, view.begin);
  std::uint32_t i = before ? before.value : row.first;
  if (before && end[i] <= view.begin && begin[i] < view.begin) ++i;

  // Pixel column c covers times view.begin + [c, c + 1) * length / width, rounded up: integers, so that a column's
  // border is the same time in every frame with the same view. 128 bits: length times width exceeds 64.
  const auto length = static_cast<__int128>(view.length());
  const auto column_begin = [&](std::int64_t c) {
    return view.begin + static_cast<Ns>((length * c + width_px - 1) / width_px);
  };
  const auto column_of = [&](Ns t) { return static_cast<std::int64_t>((static_cast<__int128>(t - view.begin) * width_px) / length); };
  const Ns pixel = std::max<Ns>(1, static_cast<Ns>(length / width_px));

  while (i < stop && begin[i] < view.end) {
    if (end[i] - begin[i] >= pixel) {
      out.push_back({begin[i], end[i], SliceId(i), 1});
      ++i;
      continue;
    }
    const Ns next_column = begin[i] < view.begin ? view.begin : column_begin(column_of(begin[i]) + 1);
    std::uint32_t j = std::min(stop, gallop_begin(begin, i, stop, std::max(next_column, begin[i] + 1)));
    j = std::max(j, i + 1);
    if (j > i + 1 && end[j - 1] - begin[j - 1] >= pixel) --j;  // a wide slice is always the last to begin in its column
    std::uint32_t longest = i;
    for (std::uint32_t k = i + 1; k < j; ++k) {
      if (end[k] - begin[k] > end[longest] - begin[longest]) longest = k;
    }
    out.push_back({begin[i], end[j - 1], SliceId(longest), j - i});
    i = j;
  }
}

SliceId LaneIndex::parent(SliceId slice) const {
  const Row& row = trace_.row(slice);
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
  std::vector<SliceId> found;
  const Row& row = trace_.row(slice);
  const Lane& lane = trace_.lane(row.lane);
  const Span span = trace_.span_of(slice);
  // Without overlaps every child lies one depth below; an overlapping one may sit deeper.
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
  Ns self = trace_.duration(slice);
  for (const SliceId child : children(slice)) self -= trace_.duration(child);
  return self;
}

SliceId LaneIndex::innermost_at(LaneId lane_id, Ns t) const {
  for (std::uint32_t depth = trace_.lane(lane_id).depth_count; depth-- > 0;) {
    if (const SliceId s = at(trace_.row_id(lane_id, depth), t)) return s;
  }
  return {};
}

SliceId LaneIndex::innermost_op_at(LaneId lane_id, Ns t) const {
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
