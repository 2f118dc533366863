#include "core/analyze/gpu/gpu_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "core/base/gallop.h"

namespace gapscope {
namespace {

constexpr std::int64_t kOne = 1'000'000;  // full, in millionths: the file writes blocks per SM with six decimals
constexpr double kMostBlocks = 1;         // more fills an SM no further, and the sum of many stays an integer

std::int64_t millionths(float blocks_per_sm) {
  return std::llround(std::min(static_cast<double>(blocks_per_sm), kMostBlocks) * static_cast<double>(kOne));
}

constexpr std::uint32_t kRuns = 1u << 31;

}  // namespace

std::int64_t GpuSeries::value(const Point& point, Which which) {
  return which == Which::busy ? ((point.fill & kRuns) != 0 ? kOne : 0) : static_cast<std::int64_t>(point.fill & ~kRuns);
}

// Kernels come by begin; their ends wait in a heap until it is their turn.
GpuSeries::GpuSeries(const Trace& trace, const std::vector<GpuOp>& ops) {
  using End = std::pair<Ns, std::int64_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::int64_t running = 0, blocks = 0;
  const auto end_until = [&](Ns t) {
    while (!ends.empty() && ends.top().first <= t) {
      const Ns time = ends.top().first;
      for (; !ends.empty() && ends.top().first == time; ends.pop()) {
        --running;
        blocks -= ends.top().second;
      }
      add(time, running > 0, std::min(blocks, kOne));
    }
  };
  points_.reserve(ops.size() * 2);
  for (const GpuOp& op : ops) {
    if (!op.is_kernel()) continue;
    const float stated = trace.gpu[op.gpu_row].blocks_per_sm;
    const bool states = stated >= 0;  // else absent, or a NaN
    has_blocks_ |= states;
    if (op.span.empty()) continue;
    end_until(op.span.begin);
    const std::int64_t own = states ? millionths(stated) : 0;
    ++running;
    blocks += own;
    add(op.span.begin, true, std::min(blocks, kOne));
    ends.emplace(op.span.end, own);
  }
  while (!ends.empty()) end_until(ends.top().first);
}

void GpuSeries::add(Ns time, bool runs, std::int64_t fill) {
  const std::uint32_t packed = static_cast<std::uint32_t>(fill) | (runs ? kRuns : 0);
  if (!points_.empty()) {
    Block& block = blocks_.back();
    const Ns after = time - block.begin;
    if (after == points_.back().after) {  // several changes at one moment are one
      points_.back().fill = packed;
      return;
    }
    if (points_.back().fill == packed) return;
    if (points_.size() - block.first < kBlock && after <= std::numeric_limits<std::uint32_t>::max()) {
      points_.push_back({static_cast<std::uint32_t>(after), packed});
      return;
    }
  }
  blocks_.push_back(
      {time, static_cast<std::uint32_t>(points_.size()), integral(Which::busy, time), integral(Which::efficiency, time)});
  points_.push_back({0, packed});
}

double GpuSeries::integral(Which which, Ns t) const {
  const auto later = [](Ns time, const Block& b) { return time < b.begin; };
  const auto next = std::upper_bound(blocks_.begin(), blocks_.end(), t, later);
  return next == blocks_.begin() ? 0 : integral_in(which, static_cast<std::size_t>(next - blocks_.begin()) - 1, t);
}

// Up to `t`, which is in the block.
double GpuSeries::integral_in(Which which, std::size_t at, Ns t) const {
  const Block& block = blocks_[at];
  const std::size_t stop = at + 1 == blocks_.size() ? points_.size() : blocks_[at + 1].first;
  std::int64_t rest = 0;  // a block covers less than 2^32 ns but its last value lasts on: that one as a double
  for (std::size_t i = block.first; i < stop; ++i) {
    const Ns begin = block.begin + points_[i].after;
    if (begin >= t) break;
    if (i + 1 == stop || block.begin + points_[i + 1].after >= t) {
      const double last = static_cast<double>(value(points_[i], which)) * static_cast<double>(t - begin);
      return (which == Which::busy ? block.busy : block.efficiency) + static_cast<double>(rest) + last;
    }
    rest += value(points_[i], which) * static_cast<std::int64_t>(points_[i + 1].after - points_[i].after);
  }
  return (which == Which::busy ? block.busy : block.efficiency) + static_cast<double>(rest);
}

void GpuSeries::between(Which which, std::span<const Ns> edges, std::vector<double>& out) const {
  out.clear();
  double before = 0;
  std::size_t next = 0;  // the first block that begins after the edge
  for (std::size_t i = 0; i < edges.size(); ++i) {
    next = first_where(next, blocks_.size(), [&](std::size_t b) { return blocks_[b].begin > edges[i]; });
    const double now = next == 0 ? 0 : integral_in(which, next - 1, edges[i]);
    if (i > 0) {
      const auto length = static_cast<double>(std::max<Ns>(edges[i] - edges[i - 1], 1));
      out.push_back(std::clamp((now - before) / length / static_cast<double>(kOne), 0.0, 1.0));
    }
    before = now;
  }
}

double GpuSeries::mean(Which which, Span over) const {
  if (over.empty()) return 0;
  const double part = integral(which, over.end) - integral(which, over.begin);
  return std::clamp(part / static_cast<double>(over.length()) / static_cast<double>(kOne), 0.0, 1.0);
}

double GpuSeries::utilization(Span over) const { return mean(Which::busy, over); }
double GpuSeries::sm_efficiency(Span over) const { return mean(Which::efficiency, over); }

}  // namespace gapscope
