#include "core/view/search/hit_columns.h"

#include <algorithm>
#include <cmath>

#include "core/view/timeline/time_view.h"

namespace gapscope {

std::vector<bool> hit_columns(const Trace& trace, const SearchAnswer& answer, int width_px, std::optional<Span> reach) {
  std::vector<bool> columns(static_cast<std::size_t>(std::max(0, width_px)), false);
  const TimeView whole = fit(reach.value_or(trace.span));
  const auto column_of = [&](SliceId hit) {
    return static_cast<std::ptrdiff_t>(std::floor(px_from_ns(whole, static_cast<double>(width_px), trace.begin(hit))));
  };
  const auto end = answer.hits.end();
  for (auto hit = answer.hits.begin(); hit != end;) {
    const std::ptrdiff_t column = column_of(*hit);
    if (column >= 0 && column < width_px) columns[static_cast<std::size_t>(column)] = true;
    hit = std::partition_point(hit, end, [&](SliceId h) { return column_of(h) <= column; });
  }
  return columns;
}

const std::vector<bool>& HitColumns::of(const Trace& trace, const std::shared_ptr<const SearchAnswer>& answer, int width_px,
                                        std::optional<Span> reach) {
  if (answer == answer_ && width_px == width_px_ && reach == reach_) return columns_;
  answer_ = answer;
  width_px_ = width_px;
  reach_ = reach;
  columns_ = answer ? hit_columns(trace, *answer, width_px, reach) : std::vector<bool>{};
  return columns_;
}

}  // namespace gapscope
