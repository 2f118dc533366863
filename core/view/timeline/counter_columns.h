#pragma once
// The pixel columns of counters, cached between frames. A pan shifts the picture by whole pixels (PixelGrid), so only what
// comes into sight is worked out.
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/view/timeline/counter_lanes.h"

namespace gapscope {

class CounterColumns {
 public:
  // Of `series`, one entry a column of the grid; stays until the same series is asked for again.
  std::span<const CounterColumn> of(const CounterSeries& series, const PixelGrid& grid);
  // The series asked for so far may go.
  void clear() { kept_.clear(); }

 private:
  struct Kept {
    double px_per_ns = 0;  // of the grid that its columns were first worked out for
    std::int64_t left = 0;
    std::vector<CounterColumn> columns;
  };
  std::map<const CounterSeries*, Kept> kept_;
  std::vector<CounterColumn> come_;  // into sight; a member to reuse its memory
};

}  // namespace gapscope
