#include "core/view/gpu/gaps_model.h"

#include <algorithm>
#include <utility>

#include "core/view/document.h"

namespace gapscope {

std::vector<std::uint32_t> arrange_gaps(const Trace& trace, const IdleGaps& gaps, const GapOrder& order,
                                        const std::optional<Span>& range) {
  std::vector<std::uint32_t> rows;
  const auto by = [&](const auto& key) {
    std::vector<std::pair<decltype(key(gaps[0])), std::uint32_t>>
        keyed;  // a gap is put together anew each time it is asked for
    for (std::uint32_t i = 0; i < gaps.size(); ++i)
      if (const IdleGap gap = gaps[i]; !range || gap.span.overlaps(*range)) keyed.emplace_back(key(gap), i);
    std::stable_sort(keyed.begin(), keyed.end(),
                     [&](const auto& a, const auto& b) { return order.descending ? b.first < a.first : a.first < b.first; });
    rows.reserve(keyed.size());
    for (const auto& [unused, row] : keyed) rows.push_back(row);
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

std::shared_ptr<const GapsQuestion::Answer> answer(const Document& document, const GapsQuestion& question,
                                                   const std::atomic<bool>* cancel) {
  const Analysis* facts = document.analysis();
  if (!facts) return nullptr;
  auto rows = std::make_shared<const GapsQuestion::Answer>(
      arrange_gaps(document.trace, facts->gpu().gaps, question.order, question.range));
  return cancel && *cancel ? nullptr : rows;
}

}  // namespace gapscope
