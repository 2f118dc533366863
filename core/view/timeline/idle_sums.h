#pragma once
// How long a GPU was idle in a stretch of time, and why most of it, however many gaps lie there: what a column of pixels
// shows of kernels that are narrower than it.
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/view/timeline/counter_lanes.h"

namespace gapscope {

struct IdlePart {
  Ns time = 0;       // 0 to the length of the stretch
  IdleCause main{};  // the cause with the most of it; meaningless where that is 0
};

// As a series it can be reused from frame to frame (counter_columns.h): `high` is the GPU's idle share of a column,
// `low` the position of the main cause in IdleCause.
class IdleSums : public CounterSeries {
 public:
  // `device` must outlive it. O(gaps); about 4 bytes a gap.
  explicit IdleSums(const DeviceAccount& device);
  // Of a gap that is in it in part, that part counts for the gap's main cause. O(log gaps).
  IdlePart within(Span span) const;
  void columns(const PixelGrid& grid, std::vector<CounterColumn>& out) const override;

 private:
  static constexpr std::size_t kBlock = 32;
  IdlePart within(Span span, std::size_t& from) const;
  void add_gaps(std::size_t first, std::size_t last, CauseTimes& sums) const;
  void add_cut(std::size_t gap, Span span, CauseTimes& sums) const;

  const DeviceAccount& device_;
  std::vector<CauseTimes> before_;  // of all gaps before block i
};

}  // namespace gapscope
