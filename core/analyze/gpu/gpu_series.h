#pragma once
// GPU utilization and est. SM efficiency of one device as functions of time, to be asked for any stretch at any zoom:
// sums of everything before a moment, so that a question costs O(log n), whatever it spans.
#include <cstdint>
#include <span>
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"

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
  // The same of each stretch between two neighbours of `edges`, which ascend: one walk instead of two searches a stretch.
  void utilization_between(std::span<const Ns> edges, std::vector<double>& out) const { between(Which::busy, edges, out); }
  void sm_efficiency_between(std::span<const Ns> edges, std::vector<double>& out) const {
    between(Which::efficiency, edges, out);
  }

 private:
  // Points in blocks: each states the time and the integrals at its first point, so that a point takes 8 bytes. Between two
  // points both functions are constant.
  static constexpr std::size_t kBlock = 64;
  struct Point {
    std::uint32_t after;  // ns since the block's begin
    std::uint32_t fill;   // of SMs, in millionths; the top bit: a kernel runs
  };
  struct Block {
    Ns begin;
    std::uint32_t first;      // position of its first point
    double busy, efficiency;  // integrals up to `begin`, in millionths times ns: one rounding of 1e-16 a block
  };
  enum class Which : bool { busy, efficiency };
  static std::int64_t value(const Point& point, Which which);
  void add(Ns time, bool runs, std::int64_t fill);
  double integral(Which which, Ns t) const;
  double integral_in(Which which, std::size_t block, Ns t) const;
  void between(Which which, std::span<const Ns> edges, std::vector<double>& out) const;
  double mean(Which which, Span over) const;

  std::vector<Block> blocks_;
  std::vector<Point> points_;
  bool has_blocks_ = false;
};

}  // namespace gapscope
