#include "core/view/timeline/row_busy.h"

#include <algorithm>

#include "core/view/timeline/time_view.h"

namespace gapscope {

RowBusy::RowBusy(const RowSlices& row) : row_(row) {
  before_.reserve(row.begin.size() / kBlock + 1);
  Ns sum = 0;
  for (std::size_t i = 0; i < row.begin.size(); ++i) {
    if (i % kBlock == 0) before_.push_back(sum);
    sum += row.end[i] - row.begin[i];
  }
}

// Of all that is before `t`.
Ns RowBusy::before(Ns t) const {
  const auto at = static_cast<std::size_t>(std::lower_bound(row_.begin.begin(), row_.begin.end(), t) - row_.begin.begin());
  if (at == 0) return 0;
  const std::size_t last = at - 1, block = last / kBlock;
  Ns sum = before_[block] + std::min(row_.end[last], t) - row_.begin[last];
  for (std::size_t i = block * kBlock; i < last; ++i) sum += row_.end[i] - row_.begin[i];
  return sum;
}

Ns RowBusy::within(Span span) const { return before(span.end) - before(span.begin); }

void RowBusy::columns(const PixelGrid& grid, std::vector<CounterColumn>& out) const {
  out.clear();
  Ns from = before(grid.begin_of(0));
  for (int x = 0; x < grid.width(); ++x) {
    const Ns to = before(grid.begin_of(x + 1)), length = std::max<Ns>(1, grid.begin_of(x + 1) - grid.begin_of(x));
    out.push_back({0, static_cast<double>(to - from) / static_cast<double>(length), true});
    from = to;
  }
}

}  // namespace gapscope
