#include "core/view/timeline/counter_columns.h"

#include <algorithm>
#include <cmath>

#include "core/view/timeline/time_view.h"

namespace gapscope {
namespace {

// Panning rounds the visible length now and then; as long as no column strays by this much, it is the same zoom.
constexpr double kMostStray = 0.01;

bool same_zoom(double before, const PixelGrid& grid) {
  const auto farthest = static_cast<double>(std::abs(grid.left()) + grid.width());
  return std::abs(grid.px_per_ns() / before - 1) * farthest < kMostStray;
}

}  // namespace

std::span<const CounterColumn> CounterColumns::of(const CounterSeries& series, const PixelGrid& grid) {
  Kept& kept = kept_[&series];
  std::vector<CounterColumn>& columns = kept.columns;
  const auto width = static_cast<std::size_t>(grid.width());
  const std::int64_t moved = grid.left() - kept.left;
  const bool goes_on = columns.size() == width && std::abs(moved) < grid.width() && same_zoom(kept.px_per_ns, grid);
  kept.left = grid.left();
  if (goes_on && moved == 0) return columns;
  if (!goes_on) {
    kept.px_per_ns = grid.px_per_ns();
    series.columns(grid, columns);
    return columns;
  }
  const auto count = static_cast<int>(std::abs(moved));
  series.columns(grid.part(moved > 0 ? grid.width() - count : 0, count), come_);
  if (moved > 0) {
    std::copy(come_.begin(), come_.end(), std::move(columns.begin() + moved, columns.end(), columns.begin()));
  } else {
    std::move_backward(columns.begin(), columns.end() + moved, columns.end());
    std::copy(come_.begin(), come_.end(), columns.begin());
  }
  return columns;
}

}  // namespace gapscope
