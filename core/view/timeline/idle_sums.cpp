#include "core/view/timeline/idle_sums.h"

#include <algorithm>

#include "core/base/gallop.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {
IdleSums::IdleSums(const DeviceAccount& device) : device_(device) {
  before_.reserve(device.gaps.size() / kBlock + 1);
  CauseTimes sums{};
  for (std::size_t i = 0; i < device.gaps.size(); ++i) {
    if (i % kBlock == 0) before_.push_back(sums);
    device.each_cause(i, [&](IdleCause cause, Ns time) { sums[index_of(cause)] += time; });
  }
  before_.push_back(sums);
}

void IdleSums::add_cut(std::size_t gap, Span span, CauseTimes& sums) const {
  const DeviceGap& cut = device_.gaps[gap];
  sums[index_of(cut.main)] += intersect(cut.span, span).length();
}

void IdleSums::add_gaps(std::size_t first, std::size_t last, CauseTimes& sums) const {
  const auto add = [&](IdleCause cause, Ns time) { sums[index_of(cause)] += time; };
  const std::size_t block = (first + kBlock - 1) / kBlock, end = last / kBlock;
  if (block >= end) {
    for (std::size_t i = first; i < last; ++i) device_.each_cause(i, add);
    return;
  }
  for (std::size_t i = first; i < block * kBlock; ++i) device_.each_cause(i, add);
  for (std::size_t c = 0; c < kIdleCauses; ++c) sums[c] += before_[end][c] - before_[block][c];
  for (std::size_t i = end * kBlock; i < last; ++i) device_.each_cause(i, add);
}

IdlePart IdleSums::within(Span span) const {
  std::size_t from = 0;
  return within(span, from);
}

// `from`: a position before the first gap that ends behind the stretch's begin; that gap from then on.
IdlePart IdleSums::within(Span span, std::size_t& from) const {
  const Column<DeviceGap>& gaps = device_.gaps;
  std::size_t first = from = first_where(from, gaps.size(), [&](std::size_t i) { return gaps[i].span.end > span.begin; });
  std::size_t last = first_where(first, gaps.size(), [&](std::size_t i) { return gaps[i].span.begin >= span.end; });
  CauseTimes sums{};
  if (first < last && !span.contains(gaps[first].span)) add_cut(first++, span, sums);
  if (first < last && !span.contains(gaps[last - 1].span)) add_cut(--last, span, sums);
  if (first < last) add_gaps(first, last, sums);
  return {sum_of(sums), largest_of(sums)};
}

void IdleSums::columns(const PixelGrid& grid, std::vector<CounterColumn>& out) const {
  out.clear();
  std::size_t from = 0;
  for (int x = 0; x < grid.width(); ++x) {
    const Span span{grid.begin_of(x), grid.begin_of(x + 1)};
    const IdlePart idle = within(span, from);
    const auto length = static_cast<double>(std::max<Ns>(span.length(), 1));
    out.push_back({static_cast<double>(index_of(idle.main)), static_cast<double>(idle.time) / length, true});
  }
}

}  // namespace gapscope
