#pragma once
// GPU utilization and est. SM efficiency of one device as functions of time, to be asked for any stretch at any zoom:
// sums of everything before a moment, so that a question costs O(log n), whatever it spans.
#include <cstdint>
#include <vector>

#include "core/analyze/gpu_ops.h"
#include "core/analyze/span_set.h"

namespace gapscope {

class GpuSeries {
 public:
  // `ops`: of one device, in time order.
  GpuSeries(const Trace& trace, const std::vector<GpuOp>& ops);

  // Share of `over` in which a kernel runs; 0 for an empty span.
  double utilization(Span over) const;
  // Mean over `over` of min(1, blocks per SM of the kernels that run), 0 while none does. The file must state blocks per SM.
  double sm_efficiency(Span over) const;
  bool has_sm_efficiency() const { return has_blocks_; }

  // `count` equal buckets of `over` (count >= 1): the mean of each, for a lane of counters. O(count log n).
  std::vector<float> utilization_buckets(Span over, int count) const;
  std::vector<float> sm_efficiency_buckets(Span over, int count) const;

 private:
  // A step function: from `time` on the value is `fill`, in millionths; `before` is its integral up to `time`.
  struct Point {
    Ns time;
    std::int64_t fill;
    double before;  // millionths times ns: at most one rounding of 1e-16 a point
  };
  static double integral(const std::vector<Point>& points, Ns t);
  static double mean(const std::vector<Point>& points, Span over);
  static std::vector<float> buckets(const std::vector<Point>& points, Span over, int count);

  std::vector<Point> busy_;
  std::vector<Point> efficiency_;
  bool has_blocks_ = false;
};

}  // namespace gapscope
