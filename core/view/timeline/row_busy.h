#pragma once
// How much of each pixel column a row of slices fills: what the picture shows of slices that are narrower than a column.
#include <vector>

#include "core/index/row_window.h"
#include "core/view/timeline/counter_lanes.h"

namespace gapscope {

// `high` of a column is the share of its time in which the row has a slice; 0 to 1.
class RowBusy : public CounterSeries {
 public:
  // `row` must outlive it. O(slices); 8 bytes a block of 32.
  explicit RowBusy(const RowSlices& row);
  // ns of `span` in which the row has a slice. O(log slices).
  Ns within(Span span) const;
  void columns(const PixelGrid& grid, std::vector<CounterColumn>& out) const override;

 private:
  static constexpr std::size_t kBlock = 32;
  Ns before(Ns t) const;

  RowSlices row_;
  std::vector<Ns> before_;  // time of all slices before block i
};

}  // namespace gapscope
