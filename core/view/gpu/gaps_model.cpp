#include "core/view/gpu/gaps_model.h"

#include <algorithm>
#include <numeric>

namespace gapscope {

std::vector<std::uint32_t> arrange_gaps(const Trace& trace, const IdleGaps& gaps, const GapOrder& order) {
  std::vector<std::uint32_t> rows(gaps.size());
  std::iota(rows.begin(), rows.end(), 0u);
  const auto by = [&](const auto& key) {
    std::vector<decltype(key(gaps[0]))> keys;  // a gap is put together anew each time it is asked for
    keys.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) keys.push_back(key(gaps[i]));
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return order.descending ? keys[b] < keys[a] : keys[a] < keys[b];
    });
  };
  switch (order.column) {
    case GapColumn::begin: by([](const IdleGap& g) { return g.span.begin; }); break;
    case GapColumn::reason: by([](const IdleGap& g) { return g.idle_class; }); break;
    case GapColumn::stream: by([](const IdleGap& g) { return std::pair(g.device, g.stream); }); break;
    case GapColumn::cause: by([&](const IdleGap& g) { return g.cause ? trace.name(g.cause) : std::string_view(); }); break;
    case GapColumn::length:
    case GapColumn::count_: by([](const IdleGap& g) { return g.span.length(); }); break;
  }
  return rows;
}

}  // namespace gapscope
