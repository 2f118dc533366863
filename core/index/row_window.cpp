#include "core/index/row_window.h"

#include <algorithm>
#include <bit>

namespace gapscope {
namespace {

// `t` is inside the slice; an empty slice holds only its own instant.
bool covers(Ns begin, Ns end, Ns t) { return begin <= t && (t < end || (begin == end && t == begin)); }

// Folds what is narrower than a pixel by the pixel column it begins in.
class Folder {
 public:
  Folder(const RowSlices& row, Span view, int width_px, std::vector<VisibleItem>& out)
      : row_(row),
        view_(view),
        width_px_(width_px),
        pixel_(std::max<Ns>(1, view.length() / width_px)),
        out_(out),
        mine_(out.size()) {}

  // Whole nanoseconds a pixel is wide, at least one.
  Ns pixel() const { return pixel_; }

  // Slices [first, next) of the row, which begin close together; `longest` among them.
  void add(std::uint32_t first, std::uint32_t next, std::uint32_t longest) {
    const Ns begin = row_.begin[first];
    const Ns length = row_.end[longest] - row_.begin[longest];
    const bool wide = length >= pixel();
    if (!wide && begin < column_end_ && out_.size() > mine_ && folding_) {
      VisibleItem& run = out_.back();
      run.end = row_.end[next - 1];
      run.count += next - first;
      if (length > longest_in_run_) {
        run.slice = row_.id(longest);
        longest_in_run_ = length;
      }
      return;
    }
    out_.push_back({begin, row_.end[next - 1], row_.id(longest), next - first});
    folding_ = !wide;
    longest_in_run_ = length;
    if (!wide) column_end_ = end_of_column(begin);
  }

 private:
  // The column's right border, rounded up.
  Ns end_of_column(Ns t) const {
    if (t < view_.begin) return view_.begin;
    constexpr Ns kFits64 = Ns{1} << 46;  // 19 hours: times 2^16 pixels it still fits
    return view_.length() < kFits64 && width_px_ < (1 << 16) ? end_of_column_in<std::uint64_t>(t)
                                                             : end_of_column_in<unsigned __int128>(t);
  }
  template <class Wide>
  Ns end_of_column_in(Ns t) const {
    const auto length = static_cast<Wide>(view_.length());
    const auto width = static_cast<Wide>(width_px_);
    const Wide column = static_cast<Wide>(t - view_.begin) * width / length;
    return view_.begin + static_cast<Ns>((length * (column + 1) + width - 1) / width);
  }

  const RowSlices& row_;
  Span view_;
  int width_px_;
  Ns pixel_;
  std::vector<VisibleItem>& out_;
  std::size_t mine_;
  bool folding_ = false;
  Ns longest_in_run_ = 0;
  Ns column_end_ = 0;
};

// The first slice that reaches into the view.
std::uint32_t first_seen(const RowSlices& row, Ns view_begin) {
  const auto after = std::upper_bound(row.begin.begin(), row.begin.end(), view_begin);
  if (after == row.begin.begin()) return 0;
  const auto before = static_cast<std::uint32_t>(after - row.begin.begin()) - 1;
  return row.end[before] <= view_begin && row.begin[before] < view_begin ? before + 1 : before;
}

}  // namespace

void visible_in_row(const RowSlices& row, Span view, int width_px, std::vector<VisibleItem>& out) {
  if (row.begin.empty() || view.empty() || width_px < 1) return;
  const auto stop = static_cast<std::uint32_t>(row.begin.size());
  std::uint32_t i = first_seen(row, view.begin);

  Folder folder(row, view, width_px, out);
  const int log2_pixel = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(folder.pixel()))) - 1;
  const std::vector<SliceGroup>* groups = row.levels->level(log2_pixel);
  if (groups == nullptr) {
    for (; i < stop && row.begin[i] < view.end; ++i) folder.add(i, i + 1, i);
    return;
  }
  const auto holds = [&](std::uint32_t slice, const SliceGroup& g) { return slice < g.first; };
  auto at = std::upper_bound(groups->begin(), groups->end(), i, holds);
  if (at != groups->begin()) --at;
  for (; at + 1 < groups->end() && row.begin[at->first] < view.end; ++at) {
    // The group that the view begins in may hold slices before it.
    const std::uint32_t first = std::max(i, at->first);
    const std::uint32_t next = (at + 1)->first;
    if (first < next) folder.add(first, next, std::max(first, at->longest));
  }
}

std::size_t position_at(const RowSlices& row, Ns t) {
  const auto after = std::upper_bound(row.begin.begin(), row.begin.end(), t);
  if (after == row.begin.begin()) return row.begin.size();
  const auto last = static_cast<std::size_t>(after - row.begin.begin()) - 1;
  return covers(row.begin[last], row.end[last], t) ? last : row.begin.size();
}

}  // namespace gapscope
