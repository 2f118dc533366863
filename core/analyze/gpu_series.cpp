#include "core/analyze/gpu_series.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace gapscope {
namespace {

constexpr std::int64_t kOne = 1'000'000;       // full, in millionths: the file writes blocks per SM with six decimals
constexpr double kMostBlocks = 1e9;            // a bound for hostile figures: the sum of many stays an integer

std::int64_t millionths(float blocks_per_sm) {
  return std::llround(std::min(static_cast<double>(blocks_per_sm), kMostBlocks) * static_cast<double>(kOne));
}

// Times at which something is added or, later, taken away again, in time order: ends wait in a heap.
template <class Change>
void sweep(const std::vector<GpuOp>& ops, const std::vector<std::int64_t>& weight, Change change) {
  using End = std::pair<Ns, std::int64_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  const auto end_until = [&](Ns t) {
    for (; !ends.empty() && ends.top().first <= t; ends.pop()) change(ends.top().first, -ends.top().second);
  };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (weight[i] == 0 || ops[i].span.empty()) continue;
    end_until(ops[i].span.begin);
    change(ops[i].span.begin, weight[i]);
    ends.emplace(ops[i].span.end, weight[i]);
  }
  while (!ends.empty()) end_until(ends.top().first);
}

Ns edge(Span over, int i, int count) {  // i-th of count + 1 edges, without overflow
  const Ns length = over.length();
  return over.begin + length / count * i + length % count * i / count;
}

}  // namespace

GpuSeries::GpuSeries(const Trace& trace, const std::vector<GpuOp>& ops) {
  std::vector<std::int64_t> kernel(ops.size()), blocks(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i].is_kernel()) continue;
    kernel[i] = kOne;
    const float stated = trace.gpu[ops[i].gpu_row].blocks_per_sm;
    if (!(stated >= 0)) continue;  // absent, or a NaN
    has_blocks_ = true;
    blocks[i] = millionths(stated);
  }
  const auto build = [&](const std::vector<std::int64_t>& weight, std::vector<Point>& points) {
    std::int64_t sum = 0;
    sweep(ops, weight, [&](Ns time, std::int64_t change) {
      sum += change;
      const std::int64_t fill = std::min(sum, kOne);
      if (!points.empty() && points.back().time == time) {
        points.back().fill = fill;
        return;
      }
      if (!points.empty() && points.back().fill == fill) return;
      points.push_back({time, fill, integral(points, time)});
    });
  };
  build(kernel, busy_);
  if (has_blocks_) build(blocks, efficiency_);
}

double GpuSeries::integral(const std::vector<Point>& points, Ns t) {
  auto at = std::upper_bound(points.begin(), points.end(), t, [](Ns time, const Point& p) { return time < p.time; });
  if (at == points.begin()) return 0;
  --at;
  return at->before + static_cast<double>(at->fill) * static_cast<double>(t - at->time);
}

double GpuSeries::mean(const std::vector<Point>& points, Span over) {
  if (over.empty()) return 0;
  const double part = integral(points, over.end) - integral(points, over.begin);
  return std::clamp(part / static_cast<double>(over.length()) / static_cast<double>(kOne), 0.0, 1.0);
}

std::vector<float> GpuSeries::buckets(const std::vector<Point>& points, Span over, int count) {
  std::vector<float> out(static_cast<std::size_t>(std::max(count, 0)));
  for (int i = 0; i < count; ++i) out[static_cast<std::size_t>(i)] = static_cast<float>(mean(points, {edge(over, i, count), std::max(edge(over, i, count) + 1, edge(over, i + 1, count))}));
  return out;
}

double GpuSeries::utilization(Span over) const { return mean(busy_, over); }
double GpuSeries::sm_efficiency(Span over) const { return mean(efficiency_, over); }
std::vector<float> GpuSeries::utilization_buckets(Span over, int count) const { return buckets(busy_, over, count); }
std::vector<float> GpuSeries::sm_efficiency_buckets(Span over, int count) const { return buckets(efficiency_, over, count); }

}  // namespace gapscope
