#include "core/index/lane_index.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "core/base/parallel.h"

namespace gapscope {
namespace {

// `t` lies inside the slice; an empty slice holds only its own instant.
bool covers(Ns begin, Ns end, Ns t) { return begin <= t && (t < end || (begin == end && t == begin)); }

}  // namespace

LaneIndex::LaneIndex(const Trace& trace, int threads, const std::atomic<bool>* cancel) : trace_(trace) {
  std::vector<std::optional<RowLevels>> made(trace.rows.size());
  parallel_for(threads, made.size(), [&](std::size_t r) {
    if (cancel != nullptr && *cancel) return;
    const Row& row = trace.rows[r];
    made[r].emplace(std::span(trace.slices.begin).subspan(row.first, row.count), std::span(trace.slices.end).subspan(row.first, row.count));
  });
  if (cancel != nullptr && *cancel) return;
  levels_.reserve(made.size());
  for (auto& level : made) levels_.push_back(std::move(*level));
}

std::size_t LaneIndex::level_bytes() const {
  std::size_t sum = 0;
  for (const RowLevels& levels : levels_) sum += levels.bytes();
  return sum;
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
  const SliceId slice = last_begin_at_or_before(row, t);
  return slice && covers(trace_.begin(slice), trace_.end(slice), t) ? slice : SliceId{};
}

namespace {

// Folds what is narrower than a pixel by the pixel column it begins in.
class Folder {
 public:
  Folder(const Trace& trace, Span view, int width_px, std::vector<VisibleItem>& out)
      : begin_(trace.slices.begin), end_(trace.slices.end), view_(view), width_px_(width_px), out_(out), mine_(out.size()) {}

  // Whole nanoseconds a pixel is wide, at least one.
  Ns pixel() const { return std::max<Ns>(1, view_.length() / width_px_); }

  // Slices [first, next), which begin close together; `longest` among them.
  void add(std::uint32_t first, std::uint32_t next, std::uint32_t longest) {
    const bool wide = end_[longest] - begin_[longest] >= pixel();
    if (!wide && begin_[first] < column_end_ && out_.size() > mine_ && folding_) {
      VisibleItem& run = out_.back();
      run.end = end_[next - 1];
      run.count += next - first;
      if (end_[longest] - begin_[longest] > end_[run.slice.index()] - begin_[run.slice.index()]) run.slice = SliceId(longest);
      return;
    }
    out_.push_back({begin_[first], end_[next - 1], SliceId(longest), next - first});
    folding_ = !wide;
    if (!wide) column_end_ = end_of_column(begin_[first]);
  }

 private:
  // The column's right border, rounded up.
  Ns end_of_column(Ns t) const {
    if (t < view_.begin) return view_.begin;
    constexpr Ns kFits64 = Ns{1} << 46;  // 19 hours: times 2^16 pixels it still fits
    return view_.length() < kFits64 && width_px_ < (1 << 16) ? end_of_column_in<std::uint64_t>(t) : end_of_column_in<unsigned __int128>(t);
  }
  template <class Wide>
  Ns end_of_column_in(Ns t) const {
    const auto length = static_cast<Wide>(view_.length());
    const auto width = static_cast<Wide>(width_px_);
    const Wide column = static_cast<Wide>(t - view_.begin) * width / length;
    return view_.begin + static_cast<Ns>((length * (column + 1) + width - 1) / width);
  }

  const std::vector<Ns>& begin_;
  const std::vector<Ns>& end_;
  Span view_;
  int width_px_;
  std::vector<VisibleItem>& out_;
  std::size_t mine_;
  bool folding_ = false;
  Ns column_end_ = 0;
};

}  // namespace

void LaneIndex::visible(RowId row_id, Span view, int width_px, std::vector<VisibleItem>& out) const {
  const Row& row = trace_.row(row_id);
  if (row.count == 0 || view.empty() || width_px < 1) return;
  const auto& begin = trace_.slices.begin;
  const SliceId before = last_begin_at_or_before(row_id, view.begin);
  std::uint32_t i = before ? before.value : row.first;
  if (before && trace_.end(before) <= view.begin && trace_.begin(before) < view.begin) ++i;
  const std::uint32_t stop = row.first + row.count;

  Folder folder(trace_, view, width_px, out);
  const int log2_pixel = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(folder.pixel()))) - 1;
  const std::vector<SliceGroup>* groups = levels_[row_id.index()].level(log2_pixel);
  if (groups == nullptr) {
    for (; i < stop && begin[i] < view.end; ++i) folder.add(i, i + 1, i);
    return;
  }
  const auto holds = [&](std::uint32_t slice, const SliceGroup& g) { return slice < g.first; };
  auto at = std::upper_bound(groups->begin(), groups->end(), i - row.first, holds);
  if (at != groups->begin()) --at;
  for (; at + 1 < groups->end() && begin[row.first + at->first] < view.end; ++at) {
    // The group that the view begins in may hold slices before it.
    const std::uint32_t first = std::max(i, row.first + at->first);
    const std::uint32_t next = row.first + (at + 1)->first;
    if (first < next) folder.add(first, next, std::max(first, row.first + at->longest));
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
