#include "core/analyze/selection/area.h"

namespace gapscope {

Area area_of_all_lanes(const Trace& trace, Span span) {
  Area area{span, {}};
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) area.lanes.push_back(LaneId(i));
  return area;
}

// A slice without length at the very end is in only when the span continues behind it.
Area whole_area(const Trace& trace) {
  Span span = trace.span;
  for (const Row& row : trace.rows) {
    const std::size_t last = std::size_t{row.first} + row.count - 1;
    if (row.count > 0 && trace.slices.begin[last] >= trace.span.end) span.end = trace.span.end + 1;
  }
  return area_of_all_lanes(trace, span);
}

std::pair<std::uint32_t, std::uint32_t> slices_touching(const Trace& trace, const Row& row, Span area) {
  const auto begin = trace.slices.begin.begin() + row.first;
  const auto end = trace.slices.end.begin() + row.first;
  auto first = static_cast<std::uint32_t>(std::upper_bound(end, end + row.count, area.begin) - end);
  const auto last = static_cast<std::uint32_t>(std::lower_bound(begin, begin + row.count, area.end) - begin);
  while (first > 0 && begin[first - 1] >= area.begin) --first;  // empty slices at the edge itself
  return {row.first + first, row.first + std::max(first, last)};
}

}  // namespace gapscope
